"""The contract editor: what makes a column a queue."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.errors import Invalid
from accounts.roles import BoardRole
from boards import reads
from leases import reads as lease_reads
from leases.errors import CardsHeld, InvalidContract
from leases.shapes import ContractShape
from leases.trial import Trial, try_input, try_output
from leases.verbs import pause as verbs
from leases.verbs.set_contract import set_contract
from novum.web import contract_form, posted
from novum.web.backoff import picture
from novum.web.contract_form import SCHEMAS, ContractForm
from novum.web.pages import PageRequest, done, is_fragment, page


@page
def contract(request: PageRequest, board_id: UUID, column_id: UUID) -> HttpResponse:
    kept = lease_reads.contract(request.caller, board_id=board_id, column_id=column_id)
    if request.method != "POST":
        return _editor(request, board_id, kept, contract_form.of_contract(kept))
    form = contract_form.of_request(request)
    if form.version != kept.version:
        form.version = kept.version
        form.complain(
            "",
            _(
                "Somebody has changed this contract since you opened it. What you typed"
                " is still here: saving it now replaces theirs."
            ),
        )
        return _editor(request, board_id, kept, form, status=409)
    terms = contract_form.terms_of(request, form, kept)
    if terms is None:
        return _editor(request, board_id, kept, form, status=422)
    try:
        set_contract(
            request.caller,
            board_id=board_id,
            column_id=column_id,
            terms=terms,
            force=posted.flag(request, "force"),
        )
    except InvalidContract as error:
        contract_form.note(form, error)
        return _editor(request, board_id, kept, form, status=422)
    except CardsHeld as error:
        facts = {"held_by": error.facts["holders"], "held": error.facts["count"]}
        return _editor(request, board_id, kept, form, status=409, **facts)
    messages.success(request, _("Contract saved."))
    return redirect("contract", board_id=board_id, column_id=column_id)


@require_POST
@page
def try_schema(request: PageRequest, board_id: UUID, column_id: UUID) -> HttpResponse:
    """Hold the schema as typed against what there is; nothing is written."""
    kept = lease_reads.contract(request.caller, board_id=board_id, column_id=column_id)
    form = contract_form.of_request(request)
    name = request.POST.get("try", "")
    name = name if name in SCHEMAS else SCHEMAS[0]
    found: Trial | None = None
    try:
        schema = contract_form.schema_of(form, name)
        call = try_input if name == "input_schema" else try_output
        found = call(
            request.caller,
            board_id=board_id,
            column_id=column_id,
            schema=True if schema is None else schema,
        )
    except InvalidContract as error:
        contract_form.note(form, error)
    except Invalid as error:
        form.complain(name, error.detail)
    tried: dict[str, Any] = {"trial": found, "tried": name}
    tried["trial_errors"] = form.errors.get(name, [])
    if is_fragment(request):
        return render(request, "contracts/_trial.html", tried | {"board_id": board_id})
    return _editor(request, board_id, kept, form, **tried)


@require_POST
@page
def backoff(request: PageRequest, board_id: UUID, column_id: UUID) -> HttpResponse:
    """The picture of what is typed, while it's typed."""
    form = contract_form.of_request(request)
    return render(request, "contracts/_backoff.html", _picture(form))


@require_POST
@page
def pause(request: PageRequest, board_id: UUID, column_id: UUID) -> HttpResponse:
    verbs.pause(
        request.caller,
        board_id=board_id,
        column_id=column_id,
        reason=posted.text(request, "reason").strip(),
    )
    return done(request, _("Paused. Whoever holds a card may finish it."))


@require_POST
@page
def resume(request: PageRequest, board_id: UUID, column_id: UUID) -> HttpResponse:
    verbs.resume(request.caller, board_id=board_id, column_id=column_id)
    return done(request, _("Resumed."))


def _editor(
    request: PageRequest,
    board_id: UUID,
    kept: ContractShape,
    form: ContractForm,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    board = reads.board(request.caller, board_id=board_id)
    columns = reads.columns(request.caller, board_id=board_id)
    role = BoardRole[board.your_role.upper()]
    shown = {
        "board": board,
        "column": next(one for one in columns if one.id == kept.column_id),
        "columns": columns,
        "contract": kept,
        "form": form,
        "may_manage": role >= BoardRole.MANAGER and board.archived_at is None,
        "nav": "boards",
        **_picture(form),
        **more,
    }
    return render(request, "contracts/editor.html", shown, status=status)


def _picture(form: ContractForm) -> dict[str, Any]:
    try:
        steps = contract_form.steps_of(form)
    except ValueError as error:
        return {"picture_error": str(error)}
    return {"picture": picture(contract_form.attempts_of(form), steps)}
