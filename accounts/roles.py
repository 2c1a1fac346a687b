"""Who may: two ladders, each rung including the ones below it (design section 2)."""

from enum import IntEnum


class WorkspaceRole(IntEnum):
    """What a person is in a workspace. Admins and owners manage every board."""

    MEMBER = 1
    ADMIN = 2
    OWNER = 3


class BoardRole(IntEnum):
    """What an actor may do on one board."""

    VIEWER = 1
    COMMENTER = 2
    EDITOR = 3
    MANAGER = 4


WORKSPACE_ROLES = [(role.value, role.name.lower()) for role in WorkspaceRole]
BOARD_ROLES = [(role.value, role.name.lower()) for role in BoardRole]
