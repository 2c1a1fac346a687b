from accounts.errors import Conflict, Invalid


class LeaseLost(Conflict):
    """You no longer hold this card. Stop working on it."""

    code = "lease_lost"


class NotAQueue(Conflict):
    """This column is no queue: its contract isn't enabled."""

    code = "not_a_queue"


class NotRequeueable(Conflict):
    """Only a failed or done card can be requeued."""

    code = "not_requeueable"


class InvalidContract(Invalid):
    """The contract doesn't fit."""

    code = "invalid_contract"


class OutputRejected(Invalid):
    """The output doesn't fit the contract's output_schema. The lease stays."""

    code = "output_rejected"


class CardsHeld(Conflict):
    """Cards of this column are being worked on."""

    code = "cards_held"


class NotCancellable(Conflict):
    """Only a card that is open or being worked on can be called off."""

    code = "not_cancellable"


class NotClaimable(Conflict):
    """This card can't be claimed now. `reason` says why."""

    code = "not_claimable"


class SeatAtCapacity(Conflict):
    """This seat holds as many cards as it may. Finish or give back one of them."""

    code = "seat_at_capacity"


class DoesNotFit(Invalid):
    """The card doesn't fit the queue's input_schema: no agent would be offered it."""

    code = "does_not_fit"
