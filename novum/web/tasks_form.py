"""A new task as a form, for My tasks and the Tasks page."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.shapes import ActorRef
from novum.cleaning.refusal import Unclean
from novum.cleaning.values import clean
from novum.web.account_forms import Form
from novum.web.posted import json_value
from tasks_people.queues import PEOPLE

PRIORITIES = (
    ("1", _("1 · first")),
    ("2", "2"),
    ("3", _("3 · usual")),
    ("4", "4"),
    ("5", _("5 · last")),
)
_CLOSE = {"autocomplete": "off", "dir": "auto"}


class Moment(forms.CharField):
    """As the page sends it: in UTC, without saying so."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local"})

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        try:
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        except ValueError as bad:
            raise forms.ValidationError(_("Give a date and time.")) from bad


class NewTask(Form):
    """One of one's own."""

    title = forms.CharField(
        label=_("Title"),
        max_length=500,
        widget=forms.TextInput(
            attrs={"placeholder": _("What is to be done?"), **_CLOSE}
        ),
    )
    priority = forms.ChoiceField(label=_("Priority"), choices=PRIORITIES, initial="3")
    due = Moment(label=_("Due"), required=False)
    description = forms.CharField(
        label=_("Description"),
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("auto_id", "new_%s")
        super().__init__(*args, **kwargs)

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        for name, value in given.items():
            if isinstance(value, str):
                given[name] = value.replace("\r\n", "\n")
                try:
                    clean(given[name])
                except Unclean as bad:
                    self.add_error(name, bad.detail)
        return given

    def fields_of_task(self) -> dict[str, Any]:
        """As `tasks_people.verbs.create` wants them."""
        return {**self.cleaned_data, "priority": int(self.cleaned_data["priority"])}


class NewTaskAnywhere(NewTask):
    """For any queue and anybody."""

    queue = forms.CharField(
        label=_("Queue"),
        max_length=60,
        initial=PEOPLE,
        help_text=_("One that isn't there yet is made."),
        widget=forms.TextInput(
            attrs={"list": "queues", "autocapitalize": "none", "autocomplete": "off"}
        ),
    )
    assignee = forms.ChoiceField(label=_("For"), required=False)
    payload = forms.CharField(
        label=_("Payload, as JSON"),
        required=False,
        widget=forms.Textarea(
            attrs={"rows": 2, "class": "code", "spellcheck": "false", "data-json": ""}
        ),
    )
    field_order = ("title", "queue", "assignee", "priority", "due")

    def __init__(self, *args: Any, people: list[ActorRef], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["assignee"]
        assert isinstance(field, forms.ChoiceField)
        named = [(one.handle, f"{one.name} (@{one.handle})") for one in people]
        field.choices = [("", _("Anybody")), *named]

    def fields_of_task(self) -> dict[str, Any]:
        """Raises Invalid for a payload that is no JSON."""
        given = super().fields_of_task()
        text = given["payload"].strip()
        given["payload"] = json_value(text, "payload") if text else None
        given["queue"] = given["queue"].strip()
        given["assignee"] = given["assignee"] or None
        return given
