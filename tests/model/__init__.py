import pytest

# So that a comparison that fails says what was compared, as in a test module.
pytest.register_assert_rewrite("tests.model.machine")
