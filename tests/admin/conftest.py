import pytest

from tests.admin.pages import sign_in, user_of


@pytest.fixture
def admin(world, client):
    """A browser of somebody who runs the server and owns the workspace."""
    sign_in(client, user_of(world.owner), is_superuser=True)
    return client
