"""The forms of endpoints. They parse; rules are the verbs'."""

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from novum.web.account_forms import Form
from webhooks.shapes import EndpointShape

COMMON = (
    ("*", _("Everything")),
    ("card.lease.*", _("Leases: claimed, completed, failed, expired, …")),
    ("card.*", _("Cards, with their leases")),
    ("column.*", _("Columns and queues")),
    ("task.done", _("Tasks that came to their end")),
)
FORMATS = (
    ("standard", _("Standard Webhooks")),
    ("cloudevents", _("CloudEvents, structured")),
)


class Endpoint(Form):
    url = forms.CharField(
        label=_("URL"),
        max_length=2000,
        widget=forms.TextInput(attrs={"placeholder": "https://…", "inputmode": "url"}),
        help_text=_("Events are POSTed there as JSON, signed."),
    )
    description = forms.CharField(
        label=_("Description"), max_length=200, required=False
    )
    types = forms.MultipleChoiceField(
        label=_("Events"),
        choices=COMMON,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    more_types = forms.CharField(
        label=_("Further types"),
        required=False,
        max_length=2000,
        help_text=_("With commas between, such as card.moved, board.*"),
    )
    boards = forms.MultipleChoiceField(
        label=_("Boards"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen: the whole workspace."),
    )
    format = forms.ChoiceField(label=_("Format"), choices=FORMATS)
    headers = forms.CharField(
        label=_("Headers of your own"),
        required=False,
        max_length=25_000,
        widget=forms.Textarea(attrs={"rows": 2, "placeholder": "X-Api-Key: …"}),
        help_text=_("One a line. Their values are never shown again."),
    )

    def __init__(
        self, *args: Any, boards: list[tuple[UUID, str]], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["boards"]
        field.choices = [(str(pk), name) for pk, name in boards]
        if not boards:
            del self.fields["boards"]

    def clean_headers(self) -> dict[str, str]:
        found = {}
        for line in self.cleaned_data["headers"].splitlines():
            name, colon, value = line.partition(":")
            if line.strip() and not colon:
                raise forms.ValidationError(_("Write “Name: value”, one a line."))
            if line.strip():
                found[name.strip()] = value.strip()
        return found

    def given(self) -> dict[str, Any]:
        """As the verbs take it."""
        data = self.cleaned_data
        further = [one.strip() for one in data["more_types"].split(",") if one.strip()]
        return {
            "url": data["url"],
            "description": data["description"],
            "types": [*data["types"], *further],
            "boards": [UUID(one) for one in data.get("boards", [])],
            "format": data["format"],
            "headers": data["headers"],
        }


class ExistingEndpoint(Endpoint):
    drop_headers = forms.BooleanField(
        label=_("Send no headers any more"), required=False
    )

    def given(self) -> dict[str, Any]:
        """Headers stay as they are, unless there are new ones or none are wanted."""
        found = super().given()
        if not found["headers"] and not self.cleaned_data["drop_headers"]:
            del found["headers"]
        return found


def initial(shape: EndpointShape) -> dict[str, Any]:
    common = [name for name, _label in COMMON]
    return {
        "url": shape.url,
        "description": shape.description,
        "types": [one for one in shape.types if one in common],
        "more_types": ", ".join(one for one in shape.types if one not in common),
        "boards": [str(one) for one in shape.boards],
        "format": shape.format,
    }
