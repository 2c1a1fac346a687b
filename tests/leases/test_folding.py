"""Which reasons are one trouble and which aren't."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leases.folding import MAX_FOLD_CHARACTERS, fold

TABLE = [
    ("", ""),
    ("lease_expired", "lease_expired"),
    ("Timed out.", "Timed out"),
    ("Timeout after 31 s", "Timeout after <n> s"),
    ("Timeout after 9.75 s", "Timeout after <n> s"),
    ("took 1,204,331 bytes, not -5", "took <n> bytes, not <n>"),
    ("used 1.5e-3 of it", "used <n> of it"),
    ("card NOV-12 is gone", "card <key> is gone"),
    ("card NOV-7 is gone", "card <key> is gone"),
    (
        "No row 0191f2d0-0000-7000-8000-000000000001 here",
        "No row <id> here",
    ),
    ("commit 9fceb02 not found", "commit <hex> not found"),
    ("segfault at 0x7ffE12", "segfault at <hex>"),
    ("decade facade defaced", "decade facade defaced"),
    ("No such file: '/tmp/q3 report.csv'", "No such file: <text>"),
    ('KeyError: "url"', "KeyError: <text>"),
    ("it doesn't fit, it isn't there", "it doesn't fit, it isn't there"),
    ("Can't read /data/in/7/a.csv", "Can't read <path>"),
    (r"Can't read C:\data\in\b.csv", "Can't read <path>"),
    ("read/write error", "read/write error"),
    ("GET https://example.com/a?b=1 failed", "GET <url> failed"),
    ("mail to ann@example.com bounced", "mail to <email> bounced"),
    ("at 2026-11-29T20:56:59.123Z it broke", "at <time> it broke"),
    ("at 2026-11-29 20:56 it broke", "at <time> it broke"),
    ("on 2026-11-29 it broke", "on <time> it broke"),
    ("no route to 10.0.0.7:5432", "no route to <ip>"),
    ("worker-3 died", "worker-<n> died"),
    ("agent_17 died", "agent_<n> died"),
    ("HTTP 503 from upstream", "HTTP 503 from upstream"),
    ("HTTP 404 from upstream", "HTTP 404 from upstream"),
    ("status code: 429, try 3", "status code: 429, try <n>"),
    ("exit code 137", "exit code 137"),
    ("[Errno 111] refused", "[Errno 111] refused"),
    ("two\n  lines\tand  blanks ", "two lines and blanks"),
    (
        'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: 7 bad',
        "ValueError: <n> bad",
    ),
    ("Datei „q3.csv“ fehlt", "Datei <text> fehlt"),
    ("超时 30 秒", "超时 <n> 秒"),
]


@pytest.mark.parametrize(("reason", "folded"), TABLE)
def test_what_differs_becomes_a_placeholder(reason, folded):
    assert fold(reason) == folded


def test_long_reasons_are_cut_and_stay_one_group():
    long = "x " * 5_000
    assert fold(long + "one") == fold(long + "two")
    assert len(fold(long)) <= MAX_FOLD_CHARACTERS
    assert fold(long).endswith("…")


@given(st.text(max_size=400))
def test_the_same_reason_is_always_folded_the_same(reason):
    once = fold(reason)
    assert once == fold(reason)
    assert len(once) <= MAX_FOLD_CHARACTERS
    assert "\n" not in once
