"""Dead letters for tests: by the product's own verbs, and many at once by copying."""

from django.db import connection, transaction

from boards.models import Card
from tests.builders import World

SCHEMA = {"properties": {"payload": {"type": "object", "required": ["url"]}}}


def a_dead_letter(world: World, reason="Timeout after 31 s", **fields):
    """The card's id."""
    world.add(**fields)
    return world.fail_card(reason=reason, requeue=False)


def many_dead_letters(world: World, number: int, reasons: int = 4, **fields) -> None:
    """Copies of one that failed: with a lease and a note of their own each."""
    card = a_dead_letter(world, "Trouble <0>", **fields)
    copy(card, world, number, reasons)


@transaction.atomic
def copy(card, world: World, number: int, reasons: int) -> None:
    names = [str(field.column) for field in Card._meta.concrete_fields]
    cards = {"id": "m.card", "number": "w.last_card_number + m.g"}
    with connection.cursor() as cursor:
        cursor.execute(
            "DROP TABLE IF EXISTS made; CREATE TEMP TABLE made ON COMMIT DROP AS SELECT uuidv7() AS card,"
            " uuidv7() AS lease, g, 'Trouble ' || chr((65 + g %% %s)::int) AS reason"
            " FROM generate_series(1, %s) g",
            [reasons, number - 1],
        )
        cursor.execute(
            f"INSERT INTO boards_card ({', '.join(names)}) SELECT"
            f" {', '.join(cards.get(name, f't.{name}') for name in names)}"
            " FROM boards_card t JOIN accounts_workspace w ON w.id = t.workspace_id,"
            " made m WHERE t.id = %s",
            [card],
        )
        cursor.execute(
            "INSERT INTO leases_lease SELECT (jsonb_populate_record(l, jsonb_build_object("
            "'id', m.lease, 'card_id', m.card, 'reason', m.reason))).*"
            " FROM leases_deadletter d JOIN leases_lease l ON l.id = d.lease_id, made m"
            " WHERE d.card_id = %s",
            [card],
        )
        cursor.execute(
            "INSERT INTO leases_deadletter (card_id, lease_id, column_id, holder_id,"
            " fold, at) SELECT m.card, m.lease, d.column_id, d.holder_id, m.reason,"
            " d.at - m.g * interval '1 second' FROM leases_deadletter d, made m"
            " WHERE d.card_id = %s",
            [card],
        )
        cursor.execute(
            "UPDATE accounts_workspace SET last_card_number = last_card_number + %s"
            " WHERE id = %s",
            [number, world.workspace.pk],
        )
