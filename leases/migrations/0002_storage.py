"""How the tables of the hot path are kept (see boards 0002). Slots change twice a
cycle and nothing of theirs that changes is indexed: half-empty pages keep them HOT."""

from django.db import migrations

LEASE = """
ALTER TABLE leases_lease SET (
    fillfactor = 90,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
)
"""
SLOT = """
ALTER TABLE leases_slot SET (
    fillfactor = 50,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 500
)
"""


class Migration(migrations.Migration):
    dependencies = [("leases", "0001_initial"), ("boards", "0002_storage")]
    operations = [
        migrations.RunSQL(LEASE, migrations.RunSQL.noop),
        migrations.RunSQL(SLOT, migrations.RunSQL.noop),
    ]
