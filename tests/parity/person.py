"""One story of all that a person does to cards and queues, done and refused, by any
door. It is told in operations; what other actors do in between is the same each time."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from leases.shapes import Claimed
from leases.verbs.claim_card import claim_card
from leases.verbs.complete import complete
from tests.builders import World, card_row, receipt


class Person:
    """Keeps of each step whether it was done: a page says no more than that."""

    def __init__(self, ask: Callable[..., bool], world: World) -> None:
        self.ask, self.world = ask, world
        self.queue = {"board_id": world.board, "column_id": world.queue}
        self.steps: list[tuple[str, bool]] = []
        self.terms: dict[str, Any] = {
            "enabled": True,
            "queue": "drafting",
            "lease_ttl_seconds": 600,
            "max_attempts": 2,
            "backoff_seconds": [30, 120],
            "on_success_column_id": world.done,
            "on_failure_column_id": world.failed,
            "concurrency_limit": 3,
            "output_schema": {"type": "object", "required": ["words"]},
        }

    def does(self, operation: str, /, **values: Any) -> None:
        self.steps.append((operation, self.ask(operation, **values)))

    def tell(self) -> None:
        for chapter in self.chapters():
            chapter()

    def chapters(self) -> Iterator[Callable[[], None]]:
        yield self.contract
        yield self.done
        yield self.given_back
        yield self.declined
        yield self.taken_from_an_agent
        yield self.called_off
        yield self.archived
        yield self.ordered
        yield self.written

    def mine(self, title: str = "Mine", **fields: Any) -> UUID:
        return self.world.add(title, assignee=self.world.owner.handle, **fields)

    def held(self, title: str) -> Claimed:
        """A card that the agent is working on."""
        return claim_card(self.world.worker, card_id=self.world.add(title))

    def contract(self) -> None:
        self.does("set_column_contract", **self.queue, **self.terms)
        wrong = {**self.terms, "max_attempts": 0}
        self.does("set_column_contract", **self.queue, **wrong)
        lunch = {**self.terms, "paused": True, "pause_reason": "Lunch"}
        self.does("set_column_contract", **self.queue, **lunch)
        waits = self.mine()
        self.does("tasks.start", id=waits)
        self.does("set_column_contract", **self.queue, **self.terms)
        self.does("tasks.start", id=waits)
        self.does("tasks.start", id=waits)

    def done(self) -> None:
        made = self.mine()
        self.does("tasks.complete", id=made, result={"words": 1})
        self.does("tasks.start", id=made)
        self.does("tasks.complete", id=made, result={"pages": 1})
        self.does("tasks.complete", id=made, result={"words": 1, "n": [1, None, ""]})
        self.does("tasks.complete", id=made, result={"words": 2})

    def given_back(self) -> None:
        made = self.mine()
        self.does("tasks.give_back", id=made, note="Not even mine.")
        self.does("tasks.start", id=made)
        self.does("tasks.give_back", id=made, note="I lack a tool.")

    def declined(self) -> None:
        made = self.mine()
        self.does("tasks.decline", id=made, reason="")
        self.does("tasks.start", id=made)
        self.does("tasks.decline", id=made, reason="Not my field.")
        self.does("requeue_card", card_id=made)
        self.does("requeue_card", card_id=made)
        self.does("tasks.decline", id=made, reason="Still not.")

    def taken_from_an_agent(self) -> None:
        card = self.held("Held").card.id
        self.does("tasks.start", id=card)
        self.does("move_card", card_id=card, column_id=self.world.failed)
        self.does("move_card", card_id=card, column_id=self.world.failed, force=True)
        where = {"column_id": self.world.done, "position": "top"}
        self.does("move_card", card_id=card, **where)
        lease = self.held("Taken").lease.id
        self.does("revoke_lease", lease_id=lease, reason="Stop.")
        self.does("revoke_lease", lease_id=lease, reason="Again.")
        held = self.held("Finished")
        complete(self.world.worker, **receipt(held), output={"words": 1})
        self.does("revoke_lease", lease_id=held.lease.id, reason="Too late.")

    def called_off(self) -> None:
        made = self.mine()
        self.does("cancel_card", card_id=made, reason="Too late.")
        held = self.held("Goes on").card.id
        self.does("cancel_card", card_id=held, reason="Stop.")
        no_job = self.world.add("Nothing to do", column=self.world.done)
        self.does("cancel_card", card_id=no_job, reason="Stop.")
        self.does("requeue_card", card_id=no_job)

    def archived(self) -> None:
        held = self.held("Put away").card.id
        self.does("archive_card", card_id=held)
        self.does("archive_card", card_id=held, force=True)
        self.does("restore_card", card_id=held)

    def ordered(self) -> None:
        one, two = self.mine("One"), self.mine("Two")
        self.does("tasks.reorder", id=two, before=one)
        self.does("tasks.prioritize", id=one, priority=1)
        self.does("tasks.prioritize", id=one, priority=9)
        self.does("tasks.assign", id=two, assignee=self.world.worker.handle)
        self.does("tasks.assign", id=two, assignee="nobody-here")
        self.does("tasks.assign", id=two, assignee=None)

    def written(self) -> None:
        self.does("create_card", **self.queue, title="New")
        self.does("create_card", **self.queue, title=" ")
        made = self.mine()
        self.does("edit_card", card_id=made, title="Better")
        self.does("edit_card", card_id=made, title="")
        self.does("add_comment", card_id=made, text="Well.")
        self.does("add_comment", card_id=made, text="")
        assert card_row(made).title == "Better"
