"""The JSON Schema of an exported board, as docs/novum-board.schema.json has it."""

from typing import Any

import msgspec

from transfer.shapes import BoardDocument


def _schema() -> dict[str, Any]:
    (_,), parts = msgspec.json.schema_components(
        [BoardDocument], ref_template="#/$defs/{name}"
    )
    document = parts.pop("BoardDocument")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **document,
        "title": "A board exported from Novum",
        "$defs": parts,
    }


SCHEMA = _schema()
