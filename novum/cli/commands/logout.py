"""novum logout"""

import os

from novum.cli import output
from novum.cli.errors import Failure
from novum.cli.options import Given
from novum.cli.places import config_path, read_config


def run(given: Given) -> int:
    given.allow()
    given.expect_words(1)
    url, path = read_config().url, config_path()
    try:
        os.unlink(path)
    except FileNotFoundError:
        output.say("nothing was kept.")
        return 0
    except OSError as error:
        raise Failure(f"Can't forget it: {error}.") from None
    output.say(f"forgot the token for {url}. It stays good until it's revoked.")
    return 0
