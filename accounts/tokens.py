"""Bearer tokens: `nvma_` (an agent's worker) or `nvmp_` (a person), 43 base62
characters (256 random bits) and 6 of CRC32, so that a typo or a cut-off token is
refused without a look at the database and secret scanners can know one when they see
it (the pattern GitHub published in 2021). At rest lies only the SHA-256.
"""

import hashlib
import secrets
import zlib

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
AGENT_PREFIX = "nvma_"
PERSON_PREFIX = "nvmp_"
RANDOM_CHARACTERS = 43
CHECKSUM_CHARACTERS = 6
TOKEN_LENGTH = len(AGENT_PREFIX) + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS
# Two digits a step: a call with fifty leases makes or checks as many receipts. Ten at
# once leave numbers that fit into a machine's word.
_PAIRS = [a + b for a in ALPHABET for b in ALPHABET]
_PAIR, _TEN = 62**2, 62**10


def base62(number: int, width: int) -> str:
    pairs, digits = _PAIRS, ""
    while number:
        number, ten = divmod(number, _TEN)
        ten, e = divmod(ten, _PAIR)
        ten, d = divmod(ten, _PAIR)
        ten, c = divmod(ten, _PAIR)
        a, b = divmod(ten, _PAIR)
        digits = f"{pairs[a]}{pairs[b]}{pairs[c]}{pairs[d]}{pairs[e]}{digits}"
    return digits.lstrip(ALPHABET[0]).rjust(width, ALPHABET[0])


def _checksum(text: str) -> str:
    return base62(zlib.crc32(text.encode()), CHECKSUM_CHARACTERS)


def mint(prefix: str) -> str:
    body = "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_CHARACTERS))
    return prefix + body + _checksum(prefix + body)


def is_well_formed(token: str) -> bool:
    return (
        len(token) == TOKEN_LENGTH
        and token.isascii()
        and token.startswith((AGENT_PREFIX, PERSON_PREFIX))
        and _checksum(token[:-CHECKSUM_CHARACTERS]) == token[-CHECKSUM_CHARACTERS:]
    )


def digest(token: str) -> bytes:
    """What is stored. 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).digest()
