"""Receipts: derived, never stored, different for every lease."""

from uuid import uuid4

from leases.tokens import NONCE_BYTES, is_receipt, new_nonce, receipt
from leases.verbs.renew import renew
from tests.builders import lease_row
from tests.builders import receipt as receipt_of


def test_a_receipt_is_the_same_each_time_it_is_derived():
    lease, nonce = uuid4(), new_nonce()
    assert receipt(lease, nonce) == receipt(lease, nonce)
    assert is_receipt(receipt(lease, nonce), lease, nonce)


def test_it_belongs_to_one_lease_and_one_nonce():
    lease, nonce = uuid4(), new_nonce()
    token = receipt(lease, nonce)
    assert not is_receipt(token, uuid4(), nonce)
    assert not is_receipt(token, lease, new_nonce())
    assert len({receipt(lease, new_nonce()) for _ in range(100)}) == 100


def test_anything_else_is_just_wrong():
    lease, nonce = uuid4(), new_nonce()
    token = receipt(lease, nonce)
    for wrong in ("", token[:-1], token + "0", token.lower(), "é" * 48, "\0"):
        assert not is_receipt(wrong, lease, nonce)


def test_it_has_one_length_and_a_prefix_for_secret_scanners():
    for _ in range(100):
        token = receipt(uuid4(), new_nonce())
        assert len(token) == 48
        assert token.startswith("nvml_")
        assert token[5:].isalnum()


def test_old_keys_still_verify_and_new_ones_mint(settings):
    lease, nonce = uuid4(), new_nonce()
    settings.LEASE_TOKEN_KEYS = ["old"]
    old = receipt(lease, nonce)
    settings.LEASE_TOKEN_KEYS = ["new", "old"]
    new = receipt(lease, nonce)
    assert new != old
    assert is_receipt(old, lease, nonce)
    assert is_receipt(new, lease, nonce)
    settings.LEASE_TOKEN_KEYS = ["new"]
    assert not is_receipt(old, lease, nonce)


def test_a_lease_survives_a_rotation_of_the_key(world, settings):
    world.add()
    held = world.claim()
    settings.LEASE_TOKEN_KEYS = ["another", *settings.LEASE_TOKEN_KEYS]
    assert renew(world.worker, **receipt_of(held))


def test_what_is_stored_is_random_and_not_the_receipt(world):
    world.add_many(2)
    nonces = {bytes(lease_row(world.claim().lease.id).nonce) for _ in range(2)}
    assert len(nonces) == 2
    assert {len(nonce) for nonce in nonces} == {NONCE_BYTES}
