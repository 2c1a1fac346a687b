"""The whole examination."""

from novum.doctor import of_services, of_settings
from novum.doctor.findings import Check, Finding, tried

DATABASE = "See whether PostgreSQL runs and DATABASE_URL leads to it."
REDIS = "See whether Redis runs and REDIS_URL leads to it."
FOLDER = "See whether NOVUM_DATA can be read."
CHECKS: tuple[tuple[str, Check, str], ...] = (
    ("keys", of_settings.keys, ""),
    ("debug", of_settings.debug, ""),
    ("https", of_settings.addresses, ""),
    ("disk", of_settings.disk, FOLDER),
    ("database", of_services.database, DATABASE),
    ("sessions", of_services.sessions, DATABASE),
    ("connections", of_services.connections, DATABASE),
    ("migrations", of_services.migrations, DATABASE),
    ("redis", of_services.redis_server, REDIS),
    ("clocks", of_services.clocks, f"{DATABASE} {REDIS}"),
    ("loops", of_services.loops, DATABASE),
)


def examine() -> list[Finding]:
    """Everything there is to find, in the order of what depends on what."""
    return [
        finding
        for area, check, advice in CHECKS
        for finding in tried(area, check, advice)
    ]
