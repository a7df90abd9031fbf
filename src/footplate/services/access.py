"""Access rights. A role in a queue includes the weaker ones: viewer < member < admin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from footplate.domain.cluster import Queue
from footplate.domain.errors import Denied, NotFound
from footplate.domain.job import Job
from footplate.domain.messages import Message, say
from footplate.store.reach import Reach

RANKS = {"viewer": 1, "member": 2, "admin": 3}


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller: by their own token, or by the token of one of their jobs."""

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
    """Everybody in a queue sees that a job is there, whose it is, what it takes and why it waits."""
    return caller.name == owner or caller.rank_in(queue) >= RANKS["viewer"]


Queues = Mapping[str, Queue]


def is_shared(queues: Queues, queue: str, shared: bool | None) -> bool:
    """What a job says of itself, or else what its queue says."""
    if shared is not None:
        return shared
    return queue in queues and queues[queue].is_shared


def may_read(caller: Caller, queues: Queues, owner: str, queue: str, shared: bool | None) -> bool:
    """Whether somebody may look into a job: configuration, logs, events, usage, files."""
    if caller.name == owner or caller.rank_in(queue) >= RANKS["admin"]:
        return True
    return caller.rank_in(queue) >= RANKS["viewer"] and is_shared(queues, queue, shared)


def reach_of(caller: Caller, queues: Queues, least: str = "viewer") -> Reach | None:
    """Say to the database what `may_read` says, for roles from `least` on; None means all jobs."""
    if caller.is_admin:
        return None
    joined = [name for name in caller.roles if caller.rank_in(name) >= RANKS[least]]
    return Reach(
        caller.name,
        administered=[name for name in joined if caller.rank_in(name) >= RANKS["admin"]],
        joined=joined,
        sharing=[name for name in joined if is_shared(queues, name, None)],
    )


def require_read(caller: Caller, queues: Queues, job: Job) -> None:
    if not may_read(caller, queues, job.owner, job.spec.queue, job.spec.shared):
        raise Denied("job_private", job=job.id, owner=job.owner, queue=job.spec.queue)


def may_touch(caller: Caller, job: Job) -> bool:
    """Owners that may still submit there, and admins of the queue, change a job."""
    rank = caller.rank_in(job.spec.queue)
    return rank >= RANKS["admin"] or (caller.name == job.owner and rank >= RANKS["member"])


def may_have_files(caller: Caller, job: Job) -> bool:
    """Of those who may look into a job, viewers of the queue may not download its files."""
    return caller.name == job.owner or caller.rank_in(job.spec.queue) >= RANKS["member"]


def require_files(caller: Caller, job: Job) -> None:
    if not may_have_files(caller, job):
        raise Denied("viewer_no_files", job=job.id)


def require_touch(caller: Caller, job: Job, verb: str) -> None:
    if not may_touch(caller, job):
        raise Denied("not_your_job", verb=verb, job=job.id, owner=job.owner, queue=job.spec.queue)


def require_submit(caller: Caller, queue: str, exists: bool) -> None:
    """Require the role member; a queue in which the caller has no role looks as if it did not exist."""
    rank = caller.rank_in(queue)
    if not exists or rank == 0:
        raise NotFound(_no_queue(caller, queue))
    if rank < RANKS["member"]:
        raise Denied("viewer_no_submit", queue=queue)


def _no_queue(caller: Caller, queue: str) -> Message:
    if caller.is_admin:
        return say("queue_unknown", queue=queue)
    known = sorted(caller.roles)
    return say("queue_not_usable", queue=queue, known=known) if known else say("no_queues", queue=queue)


def require_person(caller: Caller, act: str) -> None:
    """Refuse a job: it acts for its owner on jobs, not on accounts and rights. Messages know the `act`."""
    if caller.job_id is not None:
        raise Denied("not_for_jobs", act=act)


def require_admin(caller: Caller, act: str) -> None:
    require_person(caller, act)
    if not caller.is_admin:
        raise Denied("only_for_admins", act=act, user=caller.name)
