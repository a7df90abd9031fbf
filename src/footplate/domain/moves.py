"""The table of moves: for every state and every kind of event, which states may follow.

The picture in the docs is drawn from it.
"""

from __future__ import annotations

from collections.abc import Mapping

from footplate.domain.events import (
    DeleteAsked,
    Edited,
    HandedOver,
    HangSeen,
    Hung,
    LaunchFailed,
    OthersGone,
    Placed,
    Preempted,
    ProgressSeen,
    Refused,
    Released,
    Restored,
    StopAsked,
    TaskExited,
    TaskLost,
    TasksGone,
    TaskStarted,
    WaitExplained,
)
from footplate.domain.states import FINAL_STATES, JobState

S = JobState
_ENDS = frozenset({S.SUCCEEDED, S.FAILED, S.STOPPED})
_HELD = (S.STARTING, S.RUNNING, S.STOPPING)
# (state, event) -> the states that may follow. A pair that is absent is an error of ours.
MOVES: Mapping[tuple[JobState, type], frozenset[JobState]] = {
    (S.QUEUED, Placed): frozenset({S.STARTING}),
    (S.QUEUED, HandedOver): frozenset({S.QUEUED}),
    (S.QUEUED, StopAsked): frozenset({S.STOPPED, S.FAILED, S.STOPPING}),
    (S.QUEUED, Refused): frozenset({S.FAILED}),
    (S.QUEUED, WaitExplained): frozenset({S.QUEUED}),
    **{(state, TaskStarted): frozenset({S.STARTING, S.RUNNING}) for state in (S.QUEUED, S.STARTING)},
    (S.QUEUED, LaunchFailed): frozenset({S.STOPPING}),
    (S.STARTING, LaunchFailed): frozenset({S.STOPPING}),
    (S.RUNNING, TaskStarted): frozenset({S.RUNNING}),
    (S.RUNNING, LaunchFailed): frozenset({S.RUNNING, S.STOPPING}),
    (S.STOPPING, TaskStarted): frozenset({S.STOPPING}),
    (S.STOPPING, LaunchFailed): frozenset({S.STOPPING}),
    (S.STOPPING, Preempted): frozenset({S.STOPPING}),
    (S.STOPPING, TasksGone): _ENDS | {S.QUEUED, S.STOPPING},
    (S.STOPPING, OthersGone): frozenset({S.STOPPING}),
    (S.STOPPING, Released): frozenset({S.STOPPING}),
    (S.STARTING, Hung): frozenset({S.STOPPING}),
    (S.RUNNING, Hung): frozenset({S.STOPPING}),
    (S.RUNNING, HangSeen): frozenset({S.RUNNING}),
    (S.RUNNING, ProgressSeen): frozenset({S.RUNNING}),
    **{(state, Restored): frozenset({state}) for state in FINAL_STATES},
    **{
        (state, TaskExited): frozenset({S.STARTING, S.RUNNING, S.STOPPING, S.SUCCEEDED, S.FAILED})
        for state in (S.QUEUED, S.STARTING)
    },
    (S.RUNNING, TaskExited): frozenset({S.RUNNING, S.STOPPING, S.SUCCEEDED, S.FAILED}),
    (S.QUEUED, TaskLost): frozenset({S.STARTING, S.STOPPING, S.SUCCEEDED, S.FAILED}),
    **{
        (state, TaskLost): frozenset({state, S.STOPPING, S.SUCCEEDED, S.FAILED})
        for state in (S.STARTING, S.RUNNING)
    },
    **{(S.STOPPING, kind): frozenset({S.STOPPING}) for kind in (TaskExited, TaskLost)},
    **{(state, StopAsked): frozenset({S.STOPPING}) for state in _HELD},
    **{(state, Preempted): frozenset({S.STOPPING}) for state in (S.STARTING, S.RUNNING)},
    **{(state, Edited): frozenset({state}) for state in S},
    **{(state, DeleteAsked): frozenset({S.STOPPING}) for state in _HELD},
    (S.QUEUED, DeleteAsked): frozenset({S.STOPPED, S.STOPPING}),
    **{(state, DeleteAsked): frozenset({state}) for state in FINAL_STATES},
}
# A job that waits is in our queue, or handed over to an engine that places by itself. Only the scheduler
# speaks of the first kind, and only the engine of the second.
OF_OUR_QUEUE = frozenset({Placed, HandedOver, Refused})
OF_AN_ENGINE = frozenset({TaskStarted, TaskExited, TaskLost, LaunchFailed})
# News of how tasks do, which is gathered outside of any transaction.
_HANGS = (Hung, HangSeen, ProgressSeen)
_NEWS = (TaskStarted, TaskExited, TaskLost, LaunchFailed, TasksGone, OthersGone, *_HANGS)
# What may come late, or twice, in the very attempt that it speaks of, and then means nothing: a task's end
# after its job's, progress of a job that is stopped by now. Whoever asks for a move looks first whether it
# can be; what the scheduler decides is for jobs that wait.
LATE = frozenset(
    {
        *((state, kind) for state in FINAL_STATES for kind in _NEWS),
        *((S.STOPPING, kind) for kind in _HANGS),
    }
)
