"""The bounds of what goes in and out: pure numbers."""

FORMAT, VERSION = "novum-board", 1
MAX_FILE_BYTES = 32 * 1024 * 1024
# Cards of one import that are put on the board within the call itself, while others wait
# for their cards' numbers; more are left to the worker processes.
MOST_CARDS_AT_ONCE = 1_000
# Rows that go to the database in one statement.
BATCH = 500
# Cards that are in memory at once while a board goes out.
EXPORTED_AT_ONCE = 200
MAX_COLUMNS = 100
MAX_TABLE_COLUMNS = 200
# What a report lists one by one; beyond it only counts.
MAX_LISTED = 10_000
PREVIEWED_ROWS = 20
PREVIEWED_PROBLEMS = 50
# Files that wait to be imported, for each actor, and for how long.
MAX_DRAFTS = 5
DRAFT_HOURS = 24
# A run that hasn't stirred for so long is begun anew by somebody else.
STALE_SECONDS = 300
