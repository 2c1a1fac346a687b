from accounts.errors import Conflict


class NotADeadLetter(Conflict):
    """This card isn't a dead letter (any more): it was retried, called off or put away."""

    code = "not_a_dead_letter"


class SelectionChanged(Conflict):
    """Other cards match now than when you looked. Look again before you go on."""

    code = "selection_changed"
