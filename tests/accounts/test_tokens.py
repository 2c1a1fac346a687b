"""Bearer tokens: their form, and what lies at rest."""

import hashlib

import pytest

from accounts.tokens import (
    AGENT_PREFIX,
    ALPHABET,
    PERSON_PREFIX,
    TOKEN_LENGTH,
    base62,
    digest,
    is_well_formed,
    mint,
)


@pytest.mark.parametrize("prefix", [AGENT_PREFIX, PERSON_PREFIX])
def test_a_minted_token_is_well_formed_and_never_the_same(prefix):
    tokens = {mint(prefix) for _ in range(200)}
    assert len(tokens) == 200
    assert all(is_well_formed(token) for token in tokens)
    assert {len(token) for token in tokens} == {TOKEN_LENGTH}


def test_every_typo_in_one_character_is_noticed():
    token = mint(AGENT_PREFIX)
    for place in range(len(AGENT_PREFIX), TOKEN_LENGTH):
        for other in (ALPHABET[0], ALPHABET[33], ALPHABET[61]):
            if other != token[place]:
                assert not is_well_formed(token[:place] + other + token[place + 1 :])


def test_two_characters_that_changed_places_are_noticed():
    token = mint(AGENT_PREFIX)
    for place in range(len(AGENT_PREFIX), TOKEN_LENGTH - 1):
        a, b = token[place], token[place + 1]
        if a != b:
            assert not is_well_formed(token[:place] + b + a + token[place + 2 :])


@pytest.mark.parametrize(
    "change",
    [
        lambda token: "",
        lambda token: token[:-1],
        lambda token: token + "0",
        lambda token: " " + token[1:],
        lambda token: "nvml_" + token[5:],
        lambda token: token[:10] + "é" + token[11:],
        lambda token: "x" * 100_000,
    ],
)
def test_other_text_is_no_token(change):
    assert not is_well_formed(change(mint(AGENT_PREFIX)))


def test_at_rest_lies_its_sha256():
    token = mint(AGENT_PREFIX)
    assert digest(token) == hashlib.sha256(token.encode()).digest()


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0000"), (61, "000z"), (62, "0010"), (62**4 - 1, "zzzz")]
)
def test_base62_is_of_a_fixed_width(number, text):
    assert base62(number, 4) == text
