"""The forms of sign-in, people, agents and boards. They parse; rules are the verbs'."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.errors import DomainError, Invalid
from accounts.verbs.agents import HIGHEST_MAX_LEASES
from novum.problems import problem_of

ROLES = (("member", _("Member")), ("admin", _("Admin")), ("owner", _("Owner")))
BOARD_ROLES = (
    ("manager", _("Manager: also columns, queues and people")),
    ("editor", _("Editor: adds, changes, moves and works on cards")),
    ("commenter", _("Commenter: reads and comments")),
    ("viewer", _("Viewer: only reads")),
)
PLANS = (
    ("pipeline", _("Agent pipeline: two queues that hand on to each other")),
    ("kanban", _("Plain kanban: to do, doing, done")),
    ("empty", _("Empty")),
)
SCOPES = (
    ("read", _("Read: see boards, cards and leases")),
    ("work", _("Work: claim, renew, complete, fail")),
    ("write", _("Write: create and change cards, comment")),
    ("manage", _("Manage: boards, columns, queues, agents")),
)
THEMES = (("system", _("System")), ("light", _("Light")), ("dark", _("Dark")))


def blame(form: forms.Form, error: DomainError) -> None:
    """Put what a verb refused where the person typed it; the rest above the form."""
    fields = error.errors if isinstance(error, Invalid) else []
    for one in fields:
        name = one.pointer.strip("/")
        form.add_error(name if name in form.fields else None, one.detail)
    if not fields:
        form.add_error(None, problem_of(error).detail)


class Form(forms.Form):
    """Labels without colons."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["label_suffix"] = ""
        super().__init__(*args, **kwargs)


def _secret(label: Any, autocomplete: str, **more: Any) -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": autocomplete})
    return forms.CharField(label=label, strip=False, widget=widget, **more)


def _handle(**more: Any) -> forms.CharField:
    attrs = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
    return forms.CharField(
        label=_("Handle"),
        max_length=40,
        help_text=_("Small letters, digits and hyphens: how others write @you."),
        widget=forms.TextInput(attrs=attrs),
        **more,
    )


def _username(**more: Any) -> forms.CharField:
    attrs = {
        "autocomplete": "username",
        "autocapitalize": "none",
        "spellcheck": "false",
        **more.pop("attrs", {}),
    }
    return forms.CharField(
        label=_("User name"),
        max_length=150,
        widget=forms.TextInput(attrs=attrs),
        **more,
    )


class Skills(forms.CharField):
    """Names with commas between; gives the list of them."""

    def __init__(self, **more: Any) -> None:
        attrs = {"placeholder": _("research, german"), "autocapitalize": "none"}
        widget = forms.TextInput(attrs=attrs)
        super().__init__(max_length=1200, required=False, widget=widget, **more)

    def clean(self, value: Any) -> list[str]:
        return names(super().clean(value))


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


class SignIn(Form):
    username = _username(attrs={"autofocus": True})
    password = _secret(_("Password"), "current-password", max_length=1000)


class FirstRun(Form):
    workspace = forms.CharField(
        label=_("Workspace"),
        max_length=100,
        help_text=_("The name of your team."),
    )
    name = forms.CharField(label=_("Your name"), max_length=100)
    username = _username(help_text=_("What you sign in with."))
    password = _secret(
        _("Password"), "new-password", help_text=_("8 characters or more.")
    )


class NewPassword(Form):
    password = _secret(
        _("New password"), "new-password", help_text=_("8 characters or more.")
    )


class ChangePassword(Form):
    old = _secret(_("Present password"), "current-password")
    new = _secret(
        _("New password"), "new-password", help_text=_("8 characters or more.")
    )


class Profile(Form):
    name = forms.CharField(label=_("Name"), max_length=100)
    handle = _handle()
    theme = forms.ChoiceField(label=_("Theme"), choices=THEMES)


class TokenName(Form):
    """A personal token."""

    name = forms.CharField(
        label=_("What is it for?"),
        max_length=100,
        widget=forms.TextInput(attrs={"placeholder": _("laptop, CI, …")}),
    )


class WorkerToken(Form):
    name = forms.CharField(
        label=_("Name of the worker"),
        max_length=100,
        widget=forms.TextInput(attrs={"placeholder": _("worker 1")}),
    )
    scopes = forms.MultipleChoiceField(
        label=_("What it may do"),
        choices=SCOPES,
        initial=["read", "work", "write"],
        widget=forms.CheckboxSelectMultiple,
    )
    skills = Skills(
        label=_("Skills of this worker (optional)"),
        help_text=_("Beside those of its seat; commas between."),
    )
    expires_at = forms.DateField(
        label=_("Ends on"),
        required=False,
        help_text=_("Empty: never."),
        widget=forms.DateInput(attrs={"type": "date"}),
    )


class Seat(Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=100,
        widget=forms.TextInput(attrs={"placeholder": _("Drafter")}),
    )
    handle = forms.CharField(
        label=_("Handle"),
        max_length=40,
        help_text=_("Small letters, digits and hyphens, such as drafter."),
        widget=forms.TextInput(
            attrs={"autocapitalize": "none", "placeholder": "drafter"}
        ),
    )
    skills = Skills(
        label=_("Skills (optional)"),
        help_text=_("Cards that ask for skills go to who has them all."),
    )
    max_leases = forms.IntegerField(
        label=_("Cards at once (optional)"),
        required=False,
        min_value=1,
        max_value=HIGHEST_MAX_LEASES,
        help_text=_("How many it may hold at the same time. Empty: any number."),
    )


class SeatName(Form):
    name = forms.CharField(label=_("Name"), max_length=100)


class Person(Form):
    name = forms.CharField(label=_("Name"), max_length=100)
    username = _username(
        help_text=_("What they sign in with."), attrs={"autocomplete": "off"}
    )
    handle = _handle(required=False)
    email = forms.EmailField(label=_("E-mail (optional)"), required=False)
    role = forms.ChoiceField(label=_("Role"), choices=ROLES, initial="member")
    password = _secret(
        _("Initial password (optional)"),
        "new-password",
        required=False,
        help_text=_("Empty: you get a one-time link to give them."),
    )

    def __init__(self, *args: Any, may_make_owners: bool = False, **kwargs: Any):
        super().__init__(*args, **kwargs)
        role = self.fields["role"]
        assert isinstance(role, forms.ChoiceField)
        role.choices = list(ROLES if may_make_owners else ROLES[:2])
        self.fields["handle"].help_text = _("Empty: made from the user name.")


class KnownPerson(Form):
    username = _username(
        help_text=_("What they sign in with already, in another workspace."),
        attrs={"autocomplete": "off"},
    )
    role = forms.ChoiceField(label=_("Role"), choices=ROLES, initial="member")

    def __init__(self, *args: Any, may_make_owners: bool = False, **kwargs: Any):
        kwargs.setdefault("auto_id", "known_%s")
        super().__init__(*args, **kwargs)
        role = self.fields["role"]
        assert isinstance(role, forms.ChoiceField)
        role.choices = list(ROLES if may_make_owners else ROLES[:2])


class WorkspaceName(Form):
    name = forms.CharField(label=_("Name"), max_length=100)


class NewWorkspace(Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=100,
        widget=forms.TextInput(attrs={"placeholder": _("Research")}),
    )
    key = forms.CharField(
        label=_("Key of its cards"),
        max_length=8,
        initial="NOV",
        help_text=_("2 to 8 capital letters and digits. It stays."),
        widget=forms.TextInput(attrs={"autocapitalize": "characters"}),
    )

    def __init__(self, *args: Any, **kwargs: Any):
        kwargs.setdefault("auto_id", "new_%s")
        super().__init__(*args, **kwargs)


class NewBoard(Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=100,
        widget=forms.TextInput(attrs={"placeholder": _("Content")}),
    )
    description = forms.CharField(
        label=_("Description (optional)"),
        max_length=1000,
        required=False,
        widget=forms.TextInput,
    )
    plan = forms.ChoiceField(
        label=_("Start with"),
        choices=PLANS,
        initial="pipeline",
        widget=forms.RadioSelect,
    )
    private = forms.BooleanField(
        label=_("Private: only those whom I give a role"), required=False
    )


class BoardMember(Form):
    handle = forms.ChoiceField(label=_("Who"))
    role = forms.ChoiceField(
        label=_("Role on this board"), choices=BOARD_ROLES, initial="editor"
    )

    def __init__(self, *args: Any, people: list[tuple[str, str]], **kwargs: Any):
        super().__init__(*args, **kwargs)
        handle = self.fields["handle"]
        assert isinstance(handle, forms.ChoiceField)
        handle.choices = people
