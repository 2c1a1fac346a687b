import pytest

# So that a comparison that fails says what was compared, as in a test module.
pytest.register_assert_rewrite(
    "tests.model.both",
    "tests.model.claiming",
    "tests.model.comparing",
    "tests.model.ending",
    "tests.model.machine",
)
