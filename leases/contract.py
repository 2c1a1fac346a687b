"""The bounds of a contract: pure values (design section 5)."""

DEFAULT_LEASE_SECONDS = 300
MIN_LEASE_SECONDS = 1
MAX_LEASE_SECONDS = 86_400
DEFAULT_MAX_ATTEMPTS = 5
HIGHEST_MAX_ATTEMPTS = 1_000
# A week: nobody means a longer pause between attempts, and sums stay far from overflow.
MAX_BACKOFF_SECONDS = 7 * 86_400
MAX_BACKOFF_STEPS = 50
MAX_CONCURRENCY_LIMIT = 10_000
MAX_CLAIM_COUNT = 50
MAX_QUEUE_CHARACTERS = 60
QUEUE_NAME = "[a-z0-9][a-z0-9_-]{0,59}"
MAX_PAUSE_CHARACTERS = 200
# How often, and for how long from the first time on, a card may wait for a quota without
# losing an attempt.
MAX_WAITS = 20
MAX_WAITING_SECONDS = 6 * 3600
