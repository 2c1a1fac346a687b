"""The demo workspace. Its history is no fiction: the verbs made it, as the agents."""

from itertools import chain, count
from uuid import UUID

import msgspec
from django.db import transaction
from django.utils.crypto import get_random_string

from accounts.callers import Caller
from accounts.credentials import caller_of_actor
from accounts.models import Actor, User, WorkerToken, Workspace
from accounts.roles import BoardRole, WorkspaceRole
from accounts.verbs.agents import create_agent, create_token
from boards.models import Board
from boards.verbs.boards import create_board, set_board_member
from boards.verbs.cards import NewCard, create_cards
from boards.verbs.columns import create_column
from boards.verbs.comments import add_comment
from leases.shapes import Claim
from leases.verbs.claim import claim
from leases.verbs.complete import complete
from leases.verbs.give_back import fail, release
from leases.verbs.set_contract import Terms, set_contract
from novum import demo_content as content
from tasks_people.queues import PEOPLE
from tasks_people.verbs.create import create

SLUG = "demo"
DRAFTS = 500
COLUMNS = ("Backlog", "Drafting", "Review", "Needs attention", "Published")


def exists() -> bool:
    return Workspace.objects.filter(slug=SLUG).exists()


@transaction.atomic
def make() -> None:
    """The workspace, its people and agents, its board with all cards, and what people
    are asked for: all or nothing.

    Nobody can sign in until `new_credentials`.
    """
    ann = caller_of_actor(_person())
    drafter, reviewer = _agent(ann, "drafter"), _agent(ann, "reviewer")
    board_id = create_board(ann, name="Content", description="From idea to page.")
    set_board_member(ann, board_id=board_id, handle="drafter", role=BoardRole.MANAGER)
    _Content(board_id, ann, drafter, reviewer).fill()
    for task in content.for_people(ann.handle):
        create(drafter, queue=PEOPLE, **msgspec.structs.asdict(task))


@transaction.atomic
def new_credentials() -> tuple[str, str]:
    """A new password for the demo's person and a new token of its drafter, both nowhere
    else afterwards. Earlier tokens stay in force."""
    actor = person()
    assert actor.user is not None
    password = get_random_string(16)
    actor.user.set_password(password)
    actor.user.save(update_fields=["password"])
    _, secret = create_token(
        caller_of_actor(actor),
        agent_id=drafter().pk,
        name="demo worker",
        scopes=WorkerToken.Scope.values,
    )
    return password, secret


def person() -> Actor:
    """The first of the demo's people."""
    people = Actor.objects.filter(workspace__slug=SLUG, kind=Actor.Kind.PERSON)
    return people.select_related("user", "workspace").order_by("id")[0]


def drafter() -> Actor:
    return Actor.objects.agents().get(workspace__slug=SLUG, handle="drafter")


def board() -> Board:
    """The first of the demo's boards, whatever has become of it."""
    return Board.objects.filter(workspace__slug=SLUG).order_by("id")[0]


def _person() -> Actor:
    workspace = Workspace.objects.create(name="Novum demo", slug=SLUG, key="NOV")
    name = next(
        name
        for name in chain(["ann"], (f"ann{number}" for number in count(2)))
        # Somebody's real login is never taken over.
        if not User.objects.filter(username=name).exists()
        and not User.objects.filter(handle=name).exists()
    )
    user = User.objects.create_superuser(name, "", None, handle=name, first_name="Ann")
    return Actor.objects.create(
        workspace=workspace,
        kind=Actor.Kind.PERSON,
        handle=name,
        name="Ann",
        user=user,
        role=WorkspaceRole.OWNER,
    )


def _agent(ann: Caller, handle: str) -> Caller:
    pk = create_agent(ann, handle=handle, name=handle.capitalize())
    return caller_of_actor(Actor.objects.select_related("workspace").get(pk=pk))


class _Content:
    """The demo board while it's being filled."""

    def __init__(
        self, board_id: UUID, ann: Caller, drafter: Caller, reviewer: Caller
    ) -> None:
        self.board_id, self.ann = board_id, ann
        self.drafter, self.reviewer = drafter, reviewer
        (
            self.backlog,
            self.drafting,
            self.review,
            self.needs_attention,
            self.published,
        ) = (create_column(ann, board_id=board_id, name=name) for name in COLUMNS)

    def fill(self) -> None:
        self._make_queues()
        self._fail_one()
        self._publish_some()
        self._add(self.backlog, list(content.ideas()))
        self._add(self.drafting, content.briefs(DRAFTS))
        self._hand_one_back()

    def _make_queues(self) -> None:
        drafting = Terms(
            enabled=True,
            queue="drafting",
            lease_ttl_seconds=120,
            max_attempts=5,
            backoff_seconds=[2, 5, 15, 60, 300],
            on_success_column_id=self.review,
            on_failure_column_id=self.needs_attention,
            concurrency_limit=20,
        )
        review = Terms(
            enabled=True,
            queue="review",
            on_success_column_id=self.published,
            on_failure_column_id=self.needs_attention,
        )
        for column_id, terms in ((self.drafting, drafting), (self.review, review)):
            set_contract(
                self.ann, board_id=self.board_id, column_id=column_id, terms=terms
            )

    def _fail_one(self) -> None:
        self._add(self.drafting, [content.FAILING])
        for reason, again in (
            (content.FIRST_FAILURE, True),
            (content.SECOND_FAILURE, False),
        ):
            (one,) = self._claim(self.drafter, self.drafting, 1)
            fail(
                self.drafter,
                lease_id=one.lease.id,
                lease_token=one.lease_token,
                reason=reason,
                requeue=again,
                retry_after_seconds=0,
            )
        add_comment(self.ann, card_id=one.card.id, text=content.ABOUT_THE_FAILURE)

    def _publish_some(self) -> None:
        made = [
            content.drafted(*one) for one in (*content.PUBLISHED, *content.IN_REVIEW)
        ]
        self._add(self.drafting, [card for card, _ in made])
        drafts = self._claim(self.drafter, self.drafting, len(made))
        for one, (_, output) in zip(drafts, made, strict=True):
            complete(
                self.drafter,
                lease_id=one.lease.id,
                lease_token=one.lease_token,
                output=output,
            )
        for one in self._claim(self.reviewer, self.review, len(content.PUBLISHED)):
            add_comment(self.reviewer, card_id=one.card.id, text=content.APPROVAL)
            complete(
                self.reviewer,
                lease_id=one.lease.id,
                lease_token=one.lease_token,
                properties={"approved_by": self.reviewer.handle},
            )

    def _hand_one_back(self) -> None:
        (one,) = self._claim(self.drafter, self.drafting, 1)
        release(
            self.drafter,
            lease_id=one.lease.id,
            lease_token=one.lease_token,
            note=content.HAND_OFF,
        )

    def _add(self, column_id: UUID, cards: list[NewCard]) -> None:
        create_cards(self.ann, board_id=self.board_id, column_id=column_id, cards=cards)

    def _claim(self, caller: Caller, column_id: UUID, number: int) -> list[Claim]:
        claimed = claim(
            caller, board_id=self.board_id, column_id=column_id, count=number
        )
        assert isinstance(claimed.claims, list)
        return claimed.claims
