"""The pages of endpoints and deliveries, as a browser without scripts sees them."""

import pytest
from django.test import Client

from accounts.models import Actor
from accounts.roles import WorkspaceRole
from tests.builders import a_person
from tests.webhooks import recipes
from tests.webhooks.recipes import a_failed_delivery, an_endpoint
from webhooks.models import Delivery, Endpoint, Tally
from webhooks.verbs.endpoints import send_test

SECRET = "whsec_"


@pytest.fixture
def world(db):
    from tests.builders import a_world

    return a_world()


def client_of(caller):
    client = Client()
    client.force_login(Actor.objects.get(pk=caller.actor_id).user)
    return client


@pytest.fixture
def admin(world):
    return client_of(world.owner)


def text(answer):
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def test_an_endpoint_is_made_and_its_secret_shown_once(world, admin):
    assert "Nobody listens yet" in text(admin.get("/webhooks"))
    page = text(
        admin.post(
            "/webhooks",
            {
                "url": recipes.URL,
                "description": "The CI",
                "types": ["card.lease.*"],
                "more_types": "card.moved, column.*",
                "boards": [str(world.board)],
                "format": "standard",
                "headers": "X-Key: hidden-value",
            },
        )
    )
    assert SECRET in page
    endpoint = Endpoint.objects.get()
    assert endpoint.types == ["card.lease.*", "card.moved", "column.*"]
    assert endpoint.boards == [world.board]
    for address in ("/webhooks", f"/webhooks/{endpoint.pk}"):
        page = text(admin.get(address))
        assert "The CI" in page
        assert SECRET not in page
        assert "hidden-value" not in page
    assert "X-Key" in page


def test_mistakes_are_shown_where_they_were_made(world, admin):
    given = {"url": "http://127.0.0.1/", "format": "standard", "headers": "nonsense"}
    answer = admin.post("/webhooks", given)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "“Name: value”" in page
    answer = admin.post("/webhooks", {**given, "headers": "", "url": "https://[::1]/"})
    assert answer.status_code == 422
    assert "not a public one" in answer.content.decode()
    assert "From 1 to 50 types" in answer.content.decode()
    assert not Endpoint.objects.exists()


def test_it_is_changed_switched_rotated_and_deleted(world, admin):
    endpoint = an_endpoint(world, headers={"X-Key": "old"})
    page = f"/webhooks/{endpoint}"
    sealed = Endpoint.objects.get().headers
    given = {"url": recipes.URL, "types": ["*"], "description": "New"}
    admin.post(page, {**given, "format": "cloudevents", "headers": ""})
    row = Endpoint.objects.get()
    assert (row.description, row.format, row.headers) == ("New", "cloudevents", sealed)
    admin.post(page, {**given, "format": "standard", "drop_headers": "on"})
    assert Endpoint.objects.get().header_names == []
    admin.post(f"{page}/switch", {"enabled": "no"})
    assert Endpoint.objects.get().off == "by_hand"
    assert "switched off" in text(admin.get(page))
    admin.post(f"{page}/switch", {"enabled": "yes"})
    assert Endpoint.objects.get().enabled
    assert SECRET in text(admin.post(f"{page}/rotate"))
    admin.post(f"{page}/delete")
    assert not Endpoint.objects.exists()


def test_deliveries_are_listed_filtered_and_sent_again(world, admin):
    endpoint = an_endpoint(world)
    page = f"/webhooks/{endpoint}"
    failed = a_failed_delivery(world, endpoint)
    admin.post(f"{page}/test")
    assert text(admin.get(page)).count("data-delivery=") == 2
    assert text(admin.get(page, {"state": "failed"})).count("data-delivery=") == 1
    assert text(admin.get(page, {"type": "webhook.*"})).count("data-delivery=") == 1
    assert text(admin.get(page, {"type": "nothing"})).count("data-delivery=") == 0
    fragment = text(admin.get(page, headers={"HX-Request": "true"}))
    assert "<html" not in fragment
    admin.post(f"/webhooks/deliveries/{failed.pk}/resend")
    assert Delivery.objects.get(pk=failed.pk).state == "pending"
    Delivery.objects.filter(pk=failed.pk).update(state="failed")
    admin.post(f"{page}/resend-failed", {"hours": "24"})
    assert Delivery.objects.get(pk=failed.pk).state == "pending"


def test_a_delivery_shows_what_is_sent_and_every_try(world, admin):
    delivery = send_test(world.owner, endpoint_id=an_endpoint(world))
    row = Delivery.objects.get(pk=delivery)
    row.tried.create(
        number=1,
        at=row.created_at,
        milliseconds=12,
        status=500,
        answer="<script>alert(1)</script>",
    )
    page = text(admin.get(f"/webhooks/deliveries/{delivery}"))
    assert "It works." in page
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_the_sparkline_has_a_bar_for_each_hour_with_tries(world, admin):
    from webhooks.reads import _this_hour

    endpoint = an_endpoint(world)
    Tally.objects.create(
        endpoint_id=endpoint, hour=_this_hour(), delivered=30, failed=10
    )
    page = text(admin.get(f"/webhooks/{endpoint}"))
    assert page.count("<rect") == 2
    assert "30 delivered, 10 failed tries" in page


def test_an_endpoint_that_was_switched_off_is_on_every_page_of_an_admin(world, admin):
    endpoint = an_endpoint(world)
    assert "to look after" not in text(admin.get("/"))
    Endpoint.objects.filter(pk=endpoint).update(enabled=False, off="gone")
    assert "to look after" in text(admin.get("/"))
    assert "410" in text(admin.get("/webhooks"))


def test_members_and_strangers_see_none_of_it(world):
    endpoint = an_endpoint(world)
    delivery = a_failed_delivery(world, endpoint)
    pages = [
        "/webhooks",
        f"/webhooks/{endpoint}",
        f"/webhooks/deliveries/{delivery.pk}",
    ]
    member = client_of(a_person(world.workspace, WorkspaceRole.MEMBER))
    assert "Webhooks" not in text(member.get("/"))
    for page in pages:
        answer = member.get(page)
        assert answer.status_code in (302, 404), page
        assert recipes.URL not in answer.content.decode()
    from tests.builders import a_workspace

    stranger = client_of(a_person(a_workspace()))
    for page in pages[1:]:
        assert stranger.get(page).status_code == 404
    for verb in ("switch", "delete", "rotate", "test", "resend-failed"):
        member.post(f"/webhooks/{endpoint}/{verb}", {"enabled": "no"})
        stranger.post(f"/webhooks/{endpoint}/{verb}", {"enabled": "no"})
    assert Endpoint.objects.get().enabled
    assert Delivery.objects.get().state == "failed"


def test_the_pages_ask_the_same_number_of_questions_however_many_there_are(
    world, admin, django_assert_max_num_queries
):
    endpoint = an_endpoint(world)
    for _ in range(30):
        a_failed_delivery(world, endpoint)
    with django_assert_max_num_queries(25):
        admin.get(f"/webhooks/{endpoint}")
