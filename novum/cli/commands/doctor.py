"""novum doctor"""

from novum.cli import output
from novum.cli.errors import DONE, NOTHING
from novum.cli.options import Given
from novum.cli.session import Session

SIGNS = {"ok": "ok     ", "warning": "warning", "problem": "PROBLEM"}


def run(given: Given) -> int:
    given.allow()
    given.expect_words(1)
    session = Session(given)
    session.require_token()
    findings = session.call("list_findings")["items"]
    for one in findings:
        output.write(f"{SIGNS.get(one['level'], '?')} {one['area']}: {one['what']}")
        if one["advice"]:
            output.write(f"        {one['advice']}")
    return NOTHING if any(one["level"] == "problem" for one in findings) else DONE
