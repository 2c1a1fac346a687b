"""The command line, taken apart: words, options, and what follows `--`."""

from typing import Any

from novum.cli.errors import Usage

# Each option with the kind of its value; bool takes none.
KINDS: dict[str, type] = {
    "--help": bool,
    "--raw": bool,
    "--query": str,
    "--url": str,
    "--timeout": float,
    "--key": str,
    "--json": bool,
    "--concurrency": int,
    "--once": bool,
    "--until-empty": bool,
    "--retry": bool,
}
SHORT = {"-h": "--help", "-q": "--query", "-c": "--concurrency"}
EVERYWHERE = {"--help", "--url", "--timeout"}


class Given:
    """What the command line says. `rest` is None without a `--`."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.options: dict[str, Any] = {}
        self.rest: list[str] | None = None

    def allow(self, *names: str) -> None:
        """Raises Usage for an option that means nothing here."""
        for name in self.options:
            if name not in EVERYWHERE and name not in names:
                raise Usage(f"{name} is not for `novum {self.words[0]}`.")

    def expect_words(self, most: int) -> None:
        if len(self.words) > most:
            raise Usage(f"What is {self.words[most]!r} for?")

    def flag(self, name: str) -> bool:
        return bool(self.options.get(name))


def parse(arguments: list[str]) -> Given:
    """Options may stand anywhere before `--`."""
    given, waiting = Given(), list(arguments)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            given.rest = waiting
            break
        if word.startswith("-") and word != "-":
            _take(given, word, waiting)
        else:
            given.words.append(_text(word))
    return given


def _take(given: Given, word: str, waiting: list[str]) -> None:
    name, has_value, value = word.partition("=")
    if word[:2] in SHORT and not word.startswith("--"):
        name, has_value, value = SHORT[word[:2]], word[2:], word[2:]
    if name not in KINDS:
        raise Usage(f"There is no option {name}. `novum help` shows what there is.")
    if KINDS[name] is bool:
        if has_value:
            raise Usage(f"{name} takes no value.")
        given.options[name] = True
        return
    if not has_value:
        if not waiting:
            raise Usage(f"{name} needs a value.")
        value = waiting.pop(0)
    given.options[name] = _value(name, value)


def _value(name: str, text: str) -> Any:
    if KINDS[name] is str:
        return _text(text)
    try:
        number = KINDS[name](text)
    except ValueError:
        raise Usage(f"{name} needs a number, not {text!r}.") from None
    if not 0 < number <= 86_400:
        raise Usage(f"{name} is a number above 0.")
    return number


def _text(word: str) -> str:
    try:
        word.encode()
    except UnicodeEncodeError:
        shown = word.encode(errors="surrogateescape").decode(errors="replace")
        raise Usage(f"{shown!r} is not UTF-8.") from None
    return word
