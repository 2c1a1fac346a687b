"""Which account PostgreSQL runs as: it refuses to be root."""

import ctypes
import os
import pwd
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from novum.running.errors import StartError

# linux/prctl.h and linux/capability.h
PR_SET_KEEPCAPS = 8
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
CAPABILITY_VERSION_3 = 0x20080522
CAP_DAC_OVERRIDE = 1
CAP_DAC_READ_SEARCH = 2


@dataclass(frozen=True)
class Account:
    uid: int
    gid: int

    def become(self, paths: list[Path]) -> Callable[[], None]:
        """What a child does between fork and exec to run as this account.

        `paths` are what it has to reach. Where a folder above one of them is closed to
        it (root's home, a temporary folder), the child keeps the one capability to
        walk through folders, rather than anybody's folders being opened to everybody.
        """
        closed = not all(map(is_reachable, paths))

        def drop() -> None:
            if closed:
                _prctl(PR_SET_KEEPCAPS, 1)
            os.setgroups([])
            os.setgid(self.gid)
            os.setuid(self.uid)
            if closed and not any(
                _keep(capability)
                for capability in (CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE)
            ):
                raise PermissionError("a folder above the data is closed")

        return drop


def account_for(folder: Path) -> Account | None:
    """The account for a cluster in `folder`; None when it is our own.

    As root: the owner of the cluster that is there already, or else PostgreSQL's usual
    account, or nobody's.
    """
    if os.geteuid() != 0:
        return None
    if folder.exists() and folder.stat().st_uid != 0:
        return Account(folder.stat().st_uid, folder.stat().st_gid)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    raise StartError(
        "PostgreSQL refuses to run as root, and this machine has no account 'nobody'.\n"
        "Run Novum as an ordinary user, or set DATABASE_URL."
    )


def is_reachable(path: Path) -> bool:
    """Whether everybody may walk to `path`."""
    return all(folder.stat().st_mode & 0o001 for folder in path.parents)


def _keep(capability: int) -> bool:
    """Makes one capability outlive exec; False where the system does not let us."""
    bit = 1 << capability
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    # effective, permitted, inheritable; then the same for capabilities above 31
    sets = (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.capset(ctypes.byref(header), ctypes.byref(sets)) != 0:
        return False
    return _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability) == 0


def _prctl(option: int, *arguments: int) -> int:
    padded = [*arguments, 0, 0, 0, 0][:4]
    result: int = ctypes.CDLL(None).prctl(option, *map(ctypes.c_ulong, padded))
    return result
