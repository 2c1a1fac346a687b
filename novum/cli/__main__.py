"""`python -m novum.cli`, where the console script is not installed."""

import sys

from novum.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
