"""Host accounts: which accounts of this machine the tasks of each user run as, if the server is root.

Every person has a range of host accounts of their own, in which the task is root and which mean nothing to
the rest of the machine; or one of the site's accounts, where the operator says so.
"""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass, field

from footplate.domain.errors import EngineRejected
from footplate.engines.local.exchange import Account, AccountRange, SiteAccount

# A whole system's worth: programs that expect `nobody` or a service's account find one.
N_IDS = 65_536
# Above what directories of people hand out, below what 32 bits with a sign can hold.
FIRST_ID = 0x78000000
LAST_ID = 0x7FFFFFFF
LEAST_SITE_UID = 1000


@dataclass(frozen=True, slots=True)
class Accounts:
    """Where the ranges of host accounts begin, and which users are mapped to accounts of the machine instead.

    `*` stands for everybody who has an account of the same name.
    """

    first_id: int = FIRST_ID
    of_the_site: Mapping[str, str] = field(default_factory=dict)

    def account_of(self, owner: str, number: int) -> Account:
        """The host accounts of a user's tasks."""
        name = self.of_the_site.get(owner) or (owner if "*" in self.of_the_site and _exists(owner) else None)
        return _site_account(owner, name) if name else self._range_of(number)

    @property
    def everybody(self) -> AccountRange:
        """Whose the files are that the server keeps for all: no person has the number 0."""
        return {"first": self.first_id, "n": 1}

    def _range_of(self, number: int) -> AccountRange:
        first = self.first_id + number * N_IDS
        if first + N_IDS - 1 > max(LAST_ID, self.first_id + N_IDS - 1):
            raise EngineRejected("accounts_used_up", number=number)
        return {"first": first, "n": N_IDS}


def _exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _site_account(owner: str, name: str) -> SiteAccount:
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise EngineRejected("account_missing", owner=owner, account=name) from None
    if found.pw_uid < LEAST_SITE_UID or found.pw_uid == os.geteuid():
        raise EngineRejected("account_of_system", owner=owner, account=name, uid=found.pw_uid)
    groups = [group for group in os.getgrouplist(name, found.pw_gid) if group and group != _docker_group()]
    return {"uid": found.pw_uid, "gid": found.pw_gid, "groups": groups, "folder": found.pw_dir}


def _docker_group() -> int | None:
    """Name the group whose members are root in all but name."""
    try:
        return grp.getgrnam("docker").gr_gid
    except KeyError:
        return None
