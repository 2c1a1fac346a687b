"""How the tables of the hot path are kept: rows that change often get room on their
page, and vacuum looks at the queue long before a fifth of it is dead (the default)."""

from django.db import migrations

CARD = """
ALTER TABLE boards_card SET (
    fillfactor = 85,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
)
"""


class Migration(migrations.Migration):
    dependencies = [("boards", "0001_initial")]
    operations = [migrations.RunSQL(CARD, migrations.RunSQL.noop)]
