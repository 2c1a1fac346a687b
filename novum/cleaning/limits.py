"""The limits of every input, for the code and for the documents."""

MAX_BODY_BYTES = 1024 * 1024
# Arrays and objects inside one another: `[]` has depth 1, a string 0.
MAX_DEPTH = 64
# The largest integer, and negated the smallest, that every JSON parser keeps.
MAX_INTEGER = 2**53 - 1
