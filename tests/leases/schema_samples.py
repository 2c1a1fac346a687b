"""Schemas and values that several tests of schemas use."""

from leases.schemas import accept, problems
from leases.schemas.accept import DIALECT

INVOICE = {
    "$schema": DIALECT,
    "type": "object",
    "properties": {
        "vendor": {"type": "string", "minLength": 1},
        "issued": {"type": "string", "format": "date"},
        "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "lines": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "amount": {"type": "number", "multipleOf": 0.01},
                },
                "required": ["text", "amount"],
                "additionalProperties": False,
            },
        },
        "missing": {"type": "array", "uniqueItems": True},
    },
    "required": ["vendor", "lines"],
    "unevaluatedProperties": False,
}
TREE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


def fits(schema, instance):
    accept(schema)
    return problems(schema, instance) == []


def doubling(levels):
    """References that each stand twice for the next: 2 ** levels checks."""
    chain = {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2}
        for level in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**chain, f"d{levels}": {"type": "object"}}}


def nested(levels):
    schema = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value
