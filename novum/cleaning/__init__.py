"""One cleaning layer before every serializer: bodies, queries, arguments, forms.

What passes can be stored in PostgreSQL's jsonb and comes back unchanged in every
door. Refused, with the place as a JSON Pointer (RFC 6901): U+0000 (jsonb cannot
hold it), lone surrogates (no UTF-8 exists for them), numbers that browsers would
round, what is nested too deep, and members named twice (parsers disagree on them).

Status hints: 413 for a body that is too long; 400 for what isn't JSON as RFC 8259
and RFC 7493 want it; 422 for JSON with a value we do not take.
"""

from novum.cleaning.bodies import read_json
from novum.cleaning.limits import MAX_BODY_BYTES, MAX_DEPTH, MAX_INTEGER
from novum.cleaning.refusal import Unclean
from novum.cleaning.values import clean

__all__ = [
    "MAX_BODY_BYTES",
    "MAX_DEPTH",
    "MAX_INTEGER",
    "Unclean",
    "clean",
    "read_json",
]
