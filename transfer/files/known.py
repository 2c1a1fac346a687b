"""Whom a file names, among those who are here: by handle, e-mail address or name."""

from collections import Counter
from collections.abc import Iterable

from accounts.callers import Caller
from accounts.models import Actor

_MOST_NAMED = 20
LONG_TITLES = "Titles longer than 500 characters, cut, and whole in the text"
LONG_LABELS = "Labels cut to 50 characters"


class Known:
    """The enabled actors of the caller's workspace, read once."""

    def __init__(self, caller: Caller) -> None:
        rows = Actor.objects.in_workspace(caller.workspace_id).enabled()
        self._by_word: dict[str, str] = {}
        for row in rows.select_related("user").order_by("-created_at"):
            words = [row.name, row.user.email if row.user else "", row.handle]
            for word in words:
                if word:
                    self._by_word[word.casefold()] = row.handle
        self._unknown: Counter[str] = Counter()

    def handle(self, words: Iterable[str]) -> str | None:
        """Of the first that says somebody; the others are remembered."""
        told = [word.strip() for word in words if word and word.strip()]
        for word in told:
            found = self._by_word.get(word.lstrip("@").casefold())
            if found:
                return found
        if told:
            self._unknown[told[0]] += 1
        return None

    def notes(self) -> list[str]:
        """Who isn't here."""
        if not self._unknown:
            return []
        names = [f"{name[:60]} ({n})" for name, n in self._unknown.most_common()]
        told = ", ".join(names[:_MOST_NAMED])
        more = (
            f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        )
        return [
            f"Not in this workspace: {told}{more}. Kept by name (in properties, above"
            " comments), assigned to nobody."
        ]
