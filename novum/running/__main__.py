"""`python -m novum.running`: what `make up` calls.

With `--with-parent` Novum stops when the process that started it is gone.
"""

import os
import sys

from novum.running.errors import StartError
from novum.running.supervisor import run


def main() -> int:
    parent = os.getppid() if "--with-parent" in sys.argv[1:] else None
    try:
        run(os.environ, parent)
    except StartError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
