"""How the deployment is."""

from accounts.callers import Caller
from accounts.pages import Page
from novum.doctor.examine import examine
from novum.doctor.findings import Finding
from novum.operations.operation import NoInput, Operation


def list_findings(caller: Caller, given: NoInput) -> Page[Finding]:
    """Settings, services, versions, migrations, clocks, disk, connections and loops of
    the whole deployment, as `manage.py doctor` and `novum doctor` tell them: each with
    what to do where something is to be done. Admins and owners of a workspace. It asks
    the services anew each time, so it's not for polling: `/v1/readyz` is."""
    caller.require_admin()
    return Page(examine())


OPERATIONS = (
    Operation(
        name="list_findings",
        method="GET",
        path="/findings",
        summary="What is wrong with the deployment, and what to do about it.",
        input=NoInput,
        output=Page[Finding],
        call=list_findings,
        scope="read",
        who="admin",
    ),
)
