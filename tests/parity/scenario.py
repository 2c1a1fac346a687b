"""One story in which every lease verb is done, refused and repeated, by any door."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.builders import World
from tests.doors.http import let_lapse
from tests.parity.doors import BY_NAME, Door

type Ask = Callable[..., Any]
# Every lease verb is in the story; the tests hold it to this list.
VERBS = {
    "claim_next_card",
    *({"claim_card"} & BY_NAME.keys()),
    "renew_lease",
    "complete_lease",
    "fail_lease",
    "release_lease",
    "revoke_lease",
    "renew_leases",
    "complete_leases",
    "get_lease",
    "list_leases",
    "requeue_card",
    "get_column_contract",
    "set_column_contract",
}


class Teller:
    """Tells the story by one door and keeps what was answered."""

    def __init__(self, door: Door, world: World, worker: str, owner: str) -> None:
        self.door, self.world = door, world
        self.tokens = {"worker": worker, "owner": owner}
        self.queue = {"board_id": world.board, "column_id": world.queue}
        self.answers: list[tuple[str, Any]] = []

    def say(
        self, operation: str, /, by: str = "worker", key: str = "", **values
    ) -> Any:
        told = self.door.ask(self.tokens[by], operation, key, **values)
        self.answers.append((operation, told))
        return told

    def claim(self, **more: Any) -> dict[str, Any]:
        claim = self.say("claim_next_card", **self.queue, **more)
        return {
            "lease_id": claim["lease"]["id"],
            "lease_token": claim["lease_token"],
        }

    def tell(self) -> None:
        for chapter in self.chapters():
            chapter()

    def chapters(self) -> Iterator[Callable[[], None]]:
        yield self.contract
        yield self.done
        yield self.failed
        yield self.given_back
        yield self.lost
        yield self.many
        if "claim_card" in BY_NAME:
            yield self.one_card

    def contract(self) -> None:
        terms = {
            "enabled": True,
            "max_attempts": 2,
            "backoff_seconds": [0],
            "on_success_column_id": self.world.done,
            "on_failure_column_id": self.world.failed,
            "concurrency_limit": 3,
            "output_schema": {"type": "object", "required": ["words"]},
        }
        self.say("set_column_contract", "owner", **self.queue, **terms)
        self.say("get_column_contract", **self.queue)
        self.say("set_column_contract", "owner", **self.queue, max_attempts=0)
        self.say("claim_next_card", **self.queue)

    def done(self) -> None:
        self.world.add("Goes well", payload={"n": [1, None, ""]})
        held = self.claim(key="one", lease_ttl_seconds=600)
        self.claim(key="one", lease_ttl_seconds=600)
        self.say("claim_next_card", key="one", **self.queue)
        self.say("renew_lease", **held, lease_ttl_seconds=900)
        self.say("complete_lease", **held, output={"no": 1})
        self.say("get_lease", lease_id=held["lease_id"])
        self.say("complete_lease", **held, output={"words": 3}, properties={"a": 1})
        self.say("complete_lease", **held, output={"words": 3})
        self.say("renew_lease", **held)

    def failed(self) -> None:
        self.world.add("Fails")
        held = self.claim()
        self.say("fail_lease", **held, reason="Not yet.", retry_after_seconds=0)
        self.say("fail_lease", **held, reason="Not yet.")
        held = self.claim()
        self.say("fail_lease", **held, reason="Never.")
        card = self.answers[-1][1]["card"]["id"]
        self.say("requeue_card", card_id=card)

    def given_back(self) -> None:
        self.world.add("Comes back", priority=1)
        held = self.claim()
        self.say("release_lease", **held, note="I lack a tool.")
        held = self.claim()
        self.say("revoke_lease", lease_id=held["lease_id"])
        self.say("revoke_lease", "owner", lease_id=held["lease_id"], reason="Stop.")
        self.say("complete_lease", **held, output={"words": 1})

    def lost(self) -> None:
        held = self.claim()
        let_lapse(held["lease_id"])
        for verb in "renew_lease", "complete_lease", "fail_lease", "release_lease":
            self.say(verb, **held)
        held = self.claim()
        self.say("complete_lease", **held, output={"words": 2}, claim_next=True)

    def many(self) -> None:
        self.world.add_many(3)
        claims = self.say("claim_next_card", **self.queue, count=3)["claims"]
        held = [
            {"lease_id": one["lease"]["id"], "lease_token": one["lease_token"]}
            for one in claims
        ]
        self.say("renew_leases", leases=held)
        wrong = {**held[0], "lease_token": held[1]["lease_token"]}
        results = [{**one, "output": {"words": 1}} for one in [wrong, *held[1:]]]
        self.say("complete_leases", leases=results)
        self.say("list_leases", board_id=self.world.board, state="all")

    def one_card(self) -> None:
        card = self.world.add("This one")
        self.say("claim_card", "owner", card_id=card)
        self.say("claim_card", card_id=card)
