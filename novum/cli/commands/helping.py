"""novum help [<operation>]"""

from novum.cli import output
from novum.cli.errors import Failure
from novum.cli.explaining import INTRODUCTION, explanation, overview
from novum.cli.options import Given
from novum.cli.session import Session


def run(given: Given) -> int:
    given.allow()
    given.expect_words(2)
    name = given.words[1] if given.words[1:] else ""
    if name in BUILT_IN:
        output.write(BUILT_IN[name])
        return 0
    session = Session(given)
    if name:
        output.write(explanation(session.catalog, name))
        return 0
    try:
        text = overview(session.catalog)
    except Failure:
        # The grammar is worth showing before there is a server.
        output.write(INTRODUCTION)
        raise
    output.write(text)
    return 0


BUILT_IN = {
    "login": """\
novum login [URL]

Asks for a worker token (or reads it from standard input), tries it, and keeps address
and token in $XDG_CONFIG_HOME/novum/config.json, readable for nobody else. NOVUM_URL and
NOVUM_TOKEN go before it; a kept token is sent to the address it was given for only.""",
    "logout": """\
novum logout

Forgets what `novum login` kept. The token stays good: revoke it with revoke_token.""",
    "help": "novum help [<operation>]",
    "doctor": """\
novum doctor

Asks the server how its deployment is: settings, services, migrations, clocks, disk, loops.
For tokens of admins. Exit code 1 where something is wrong; each line says what to do.
`make doctor` on the server's machine says the same when nobody answers.""",
    "watch": """\
novum watch [queue=NAME] [board_id=ID] [card_id=ID] [types=card.lease.*] [--json]

Follows what happens from now on, one line per event (with --json, one JSON object),
until Ctrl-C. Without a queue: everything that the token may see.""",
    "work": """\
novum work queue=NAME [lease_seconds=300] [labels=a,b] [options] -- COMMAND [ARGUMENT …]

Claims tasks and runs the command once for each, with the task as JSON on its standard
input, and NOVUM_TASK_ID, NOVUM_TASK_KEY and NOVUM_ATTEMPT in its environment. The lease
is kept alive meanwhile.

  exit code 0       the task is done; the output is its result (JSON as it is, other
                    text as {"text": …}, nothing as null)
  exit code 75      it failed for now: try again (back into the queue)
  any other         it failed; the last line of standard error is the reason
  lease lost        the command is ended; nothing more is said about the task
  Ctrl-C, SIGTERM   commands are ended and their tasks given back; a second one kills

  -c, --concurrency N   so many at once (1)
  --once                take one task at most; exit code 1 if it failed
  --until-empty         end when there is nothing left to take
  --retry               a failed task goes back into the queue, while attempts are left

With board_id=ID column_id=ID instead of the queue's name it works on any column that is
a queue.""",
    "completion": """\
novum completion bash|zsh|fish

Prints what completes operations, fields and values. For good:
  bash  novum completion bash > ~/.local/share/bash-completion/completions/novum
  zsh   novum completion zsh > "${fpath[1]}/_novum"
  fish  novum completion fish > ~/.config/fish/completions/novum.fish""",
}
