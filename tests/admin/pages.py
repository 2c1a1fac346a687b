"""What the tests of the admin need: rows of every kind, a signed-in person, its pages."""

import re
from html.parser import HTMLParser
from importlib import import_module

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group
from django.urls import reverse

from accounts.models import Actor, User
from accounts.roles import BoardRole
from boards.verbs.boards import create_board, set_board_member
from boards.verbs.comments import add_comment
from leases.verbs.set_contract import Terms, set_contract
from tests.builders import World, a_person, a_seat, a_token, a_workspace

MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
NAMES = [model._meta.label for model in MODELS]


def page(model, name, *arguments):
    meta = model._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_{name}", args=arguments)


def change_page(row):
    return page(type(row), "change", row.pk)


def list_page(model):
    return page(model, "changelist")


def make_rows(world: World, number: int) -> None:
    """So many more rows of everything that has a page, each with all its references."""
    for _ in range(number):
        a_workspace()
        person = a_person(world.workspace)
        Group.objects.create(name=f"Group of {person.handle}")
        seat = a_seat(world.workspace)
        a_token(seat, created_by_id=world.owner.actor_id)
        create_board(world.owner, name=f"Board of {person.handle}")
        column = world.column(f"Column of {person.handle}")
        terms = Terms(enabled=True, on_success_column_id=world.done)
        set_contract(world.owner, board_id=world.board, column_id=column, terms=terms)
        set_board_member(
            world.owner,
            board_id=world.board,
            handle=person.handle,
            role=BoardRole.VIEWER,
        )
        card = world.add(assignee=world.worker.handle, properties={"a": [1]})
        add_comment(world.owner, card_id=card, text="A remark")
        world.claim()
        for config in apps.get_app_configs():
            if hasattr(config, "operations"):
                import_module(f"tests.{config.label}.recipes").make_rows(world)


def user_of(caller) -> User:
    return Actor.objects.select_related("user").get(pk=caller.actor_id).user


def sign_in(client, user: User, **flags) -> None:
    User.objects.filter(pk=user.pk).update(is_staff=True, **flags)
    client.force_login(User.objects.get(pk=user.pk))


def errors_of(answer) -> dict:
    return answer.context["adminform"].form.errors


def form_of(client, url) -> dict:
    """The page's form as a browser would send it, unchanged."""
    answer = client.get(url)
    assert answer.status_code == 200
    form = Form(answer.context["opts"].model_name + "_form")
    form.feed(answer.content.decode())
    assert form.sent
    return form.sent


class Form(HTMLParser):
    """What the fields of one form say."""

    def __init__(self, id):
        super().__init__()
        self.id, self.sent = id, {}
        self.is_inside, self.name, self.is_text = False, "", False

    def handle_starttag(self, tag, attributes):
        said = dict(attributes)
        self.is_inside |= tag == "form" and said.get("id") == self.id
        if not self.is_inside:
            return
        if tag in ("select", "textarea"):
            self.name, self.is_text = said["name"], tag == "textarea"
            self.sent[self.name] = [] if "multiple" in said else ""
        elif tag == "option" and "selected" in said:
            many = isinstance(self.sent[self.name], list)
            chosen = said["value"]
            self.sent[self.name] = [*self.sent[self.name], chosen] if many else chosen
        elif tag == "input" and said["type"] in ("checkbox", "radio"):
            if "checked" in said:
                self.sent[said["name"]] = said.get("value", "on")
        elif tag == "input" and said["type"] != "submit":
            self.sent[said["name"]] = said.get("value", "")

    def handle_data(self, data):
        if self.is_text:
            self.sent[self.name] += data

    def handle_endtag(self, tag):
        if tag == "textarea" and self.is_text:
            self.is_text = False
            # A browser leaves out the line break behind the opening tag.
            self.sent[self.name] = re.sub(r"\A\r?\n", "", self.sent[self.name])
        elif tag == "form":
            self.is_inside = False
