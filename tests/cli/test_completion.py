"""What the shells offer, asked of the shells themselves."""

import shutil

import pytest

pytestmark = pytest.mark.processes

BASH = """
source <(novum completion bash)
COMP_LINE={line!r} COMP_POINT=${{#COMP_LINE}} COMP_WORDS=(x) COMP_CWORD=0
compopt() {{ :; }}
_novum
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
FISH = "source (novum completion fish | psub); complete -C {line!r}"
ZSH = """
compdef() {{ :; }}
compadd() {{ while [[ $1 != -- ]]; do shift; done; shift; print -rl -- $@; }}
_files() {{ :; }}
eval "$(novum completion zsh)"
words=({words}) CURRENT={current}
_novum
"""


@pytest.fixture
def known(shell):
    shell("get_me")
    return shell


def bash(shell, line) -> list[str]:
    return shell.line(BASH.format(line=line)).out.split()


def zsh(shell, line) -> list[str]:
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    script = ZSH.format(words=quoted, current=len(words))
    return shell.run(["zsh", "-fc", script], "").out.split()


def fish(shell, line) -> list[str]:
    done = shell.run(["fish", "--no-config", "-c", FISH.format(line=line)], "")
    return [one.split("\t")[0] for one in done.out.splitlines()]


SHELLS = [
    pytest.param(
        ask, marks=pytest.mark.skipif(not shutil.which(name), reason=f"no {name} here")
    )
    for name, ask in (("bash", bash), ("zsh", zsh), ("fish", fish))
]


@pytest.mark.parametrize("ask", SHELLS)
def test_operations_and_commands_are_offered(known, ask):
    assert ask(known, "novum claim_next") == ["claim_next_card"]
    assert {"work", "watch", "help", "get_me"} <= set(ask(known, "novum "))
    assert "get_card" in ask(known, "novum help get_c")


@pytest.mark.parametrize("ask", SHELLS)
def test_fields_are_offered_once_the_needed_ones_first(known, ask):
    line = "novum create_card title=x board_id=1 "
    offered = ask(known, line)
    assert "title=" not in offered
    assert "properties:=" in offered
    assert set(ask(known, line + "pri")) == {"priority="}
    if ask is bash:
        assert offered[0] == "column_id="


def test_values_of_a_choice_are_offered(known):
    assert bash(known, "novum list_cards state=o") == ["open"]
    assert bash(known, "novum list_cards archived=") == ["true", "false"]
    assert bash(known, "novum create_card title=") == []


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish here")
def test_fish_offers_the_whole_word(known):
    assert fish(known, "novum list_cards state=o") == ["state=open"]


def test_options_are_offered_where_they_mean_something(known):
    assert "--until-empty" in bash(known, "novum work --")
    assert "--until-empty" not in bash(known, "novum get_me --")
    assert bash(known, "novum get_me --ra") == ["--raw"]
    assert bash(known, "novum get_me --query ") == []
    assert bash(known, "novum work queue=x -- my") == []
    assert "queue=" in bash(known, "novum work ")


def test_the_server_is_not_asked_for_what_is_remembered(shell, wire):
    shell.environment["NOVUM_URL"] = wire.url
    assert "get_me" in bash(shell, "novum get")
    assert len(wire.requests) == 1
    assert "get_me" in bash(shell, "novum get")
    assert len(wire.requests) == 1


def test_without_anything_nothing_is_offered_and_nothing_told(bare):
    done = bare("__complete", "novum get", NOVUM_URL="http://127.0.0.1:9")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_another_shell_is_a_mistake(bare):
    bare("completion", "csh").failed(2, "bash|zsh|fish")
