"""What somebody sees of a job: all of it, or an outline of one that is private to others.

An outline says that the job is there, whose it is, what it takes and why it waits.
"""

from __future__ import annotations

from dataclasses import replace

from footplate.domain.listing import JobLine, SeenJob
from footplate.domain.messages import Message, say
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.services.access import Caller, is_shared, may_read
from footplate.services.headway import headway_of
from footplate.services.platform import Platform
from footplate.store.rows import EventRecord

# Reasons that say nothing of the inner life of a job: its tasks, files and exit codes.
TOLD_REASONS = frozenset(
    {
        ReasonCode.SUBMITTED,
        ReasonCode.INSUFFICIENT_RESOURCES,
        ReasonCode.BEHIND_OTHERS,
        ReasonCode.RESERVED_FOR_ANOTHER,
        ReasonCode.QUEUE_LIMIT,
        ReasonCode.NO_NODE,
        ReasonCode.NO_PORTS,
        ReasonCode.STORAGE_SILENT,
        ReasonCode.ENGINE_AWAY,
        ReasonCode.HANDED_OVER,
        ReasonCode.PREPARING,
        ReasonCode.RUNNING,
        ReasonCode.COMPLETED,
        ReasonCode.STOPPED_BY_USER,
        ReasonCode.HALTED,
        ReasonCode.DELETED,
        ReasonCode.TIME_LIMIT,
        ReasonCode.DEADLINE,
        ReasonCode.PREEMPTED,
        ReasonCode.NEVER_FITS,
    }
)
# Of these events an outline tells everything, of all others only that they were.
TOLD_KINDS = frozenset({"submitted", "waiting"})
TOLD_FACTS = ("state", "reason")


def seen(
    platform: Platform, caller: Caller, line: JobLine, waits: tuple[Reason, int] | None = None
) -> SeenJob:
    """A job as a caller sees it; `waits` is the scheduler's newest word on why it waits, behind how many."""
    queues = platform.cluster.queues
    reason, position = waits if waits and line.state is JobState.QUEUED else (line.reason, None)
    shared = is_shared(queues, line.queue, line.shared)
    if may_read(caller, queues, line.owner, line.queue, line.shared):
        return SeenJob(line, reason, position, shared, True, headway_of(platform, line))
    outline = replace(line, description="", tags=())
    return SeenJob(outline, _outlined(reason, line), position, shared, is_readable=False)


def _outlined(reason: Reason, line: JobLine) -> Reason:
    return reason if reason.code in TOLD_REASONS else Reason(reason.code, _private(line))


def _private(of: JobLine | EventRecord) -> Message:
    return say("details_private", owner=of.owner, queue=of.queue)


def outline_of(event: EventRecord) -> EventRecord:
    """An event without what only those may know who may look into its job."""
    if event.kind in TOLD_KINDS and event.data.get("reason", ReasonCode.SUBMITTED) in TOLD_REASONS:
        return event
    facts = {name: event.data[name] for name in TOLD_FACTS if name in event.data}
    return replace(event, said=_private(event), facts=facts)
