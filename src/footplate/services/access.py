"""Who may do what. A role in a queue includes the weaker ones: viewer < member < admin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from footplate.domain.errors import Denied, NotFound
from footplate.domain.job import Job

RANKS = {"viewer": 1, "member": 2, "admin": 3}


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody whose identity was checked: by a token of theirs, or by that of one of their jobs."""

    name: str
    is_admin: bool = False
    roles: Mapping[str, str] = field(default_factory=dict)
    job_id: str | None = None
    # Not who it is, but how it was shown.
    token_id: str | None = field(default=None, compare=False)

    def rank_in(self, queue: str) -> int:
        return RANKS["admin"] if self.is_admin else RANKS.get(self.roles.get(queue, ""), 0)


def visible_queues(caller: Caller) -> Sequence[str] | None:
    """The queues whose jobs the caller may see; None means all."""
    return None if caller.is_admin else tuple(caller.roles)


def may_see(caller: Caller, owner: str, queue: str) -> bool:
    return caller.name == owner or caller.rank_in(queue) >= RANKS["viewer"]


def may_touch(caller: Caller, job: Job) -> bool:
    """Owners that may still submit there, and admins of the queue, change a job."""
    rank = caller.rank_in(job.spec.queue)
    return rank >= RANKS["admin"] or (caller.name == job.owner and rank >= RANKS["member"])


def require_files(caller: Caller, job: Job) -> None:
    """Owners and those who may submit beside them fetch files; who may only look sees logs."""
    if caller.name != job.owner and caller.rank_in(job.spec.queue) < RANKS["member"]:
        raise Denied(f"you may look at job {job.id} but not fetch its files: your role there is viewer")


def require_touch(caller: Caller, job: Job, verb: str) -> None:
    if not may_touch(caller, job):
        raise Denied(
            f"you may not {verb} job {job.id}: it belongs to {job.owner}; its owner, an admin of queue "
            f"{job.spec.queue} or a platform admin can"
        )


def require_submit(caller: Caller, queue: str, exists: bool) -> None:
    """A queue that somebody has no role in looks like one that does not exist."""
    rank = caller.rank_in(queue)
    if not exists or rank == 0:
        raise NotFound(f"there is no queue {queue}{_own_queues(caller)}")
    if rank < RANKS["member"]:
        raise Denied(f"you may look at queue {queue} but not submit to it: your role there is viewer")


def _own_queues(caller: Caller) -> str:
    if caller.is_admin:
        return ""
    known = ", ".join(sorted(caller.roles))
    return f" that you may use; {f'yours: {known}' if known else 'you have none: ask a platform admin'}"


def require_person(caller: Caller, what: str, instead: str = "do it as yourself") -> None:
    """Refuse a job: it acts for its owner on jobs, not on accounts and rights."""
    if caller.job_id is not None:
        raise Denied(f"a job may not {what}; {instead}")


def require_admin(caller: Caller, what: str) -> None:
    require_person(caller, what, "a platform admin can, with a token of their own")
    if not caller.is_admin:
        raise Denied(f"only a platform admin may {what}; you are {caller.name}")
