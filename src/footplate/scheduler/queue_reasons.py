"""Why a job waits on account of its own queue."""

from __future__ import annotations

from typing import Any

from footplate.domain.resources import Resources
from footplate.domain.states import Reason, ReasonCode
from footplate.scheduler.fit import over_maximum
from footplate.scheduler.kinds import Kind
from footplate.scheduler.phrases import DIMENSIONS, amount, amounts, as_json, figure, of
from footplate.scheduler.shares import Kept, Share
from footplate.scheduler.situation import Obstacle, Situation


def explain_obstacle(obstacle: Obstacle, kind: Kind, situation: Situation) -> Reason:
    """Put into words what a queue does not allow."""
    name = kind.queue_name
    details: dict[str, Any] = {
        "queue": name,
        "needed": as_json(kind.total),
        "obstacle": obstacle.name.lower(),
    }
    if obstacle is Obstacle.NO_QUEUE:
        return Reason(ReasonCode.QUEUE_LIMIT, f"queue {name} does not exist", details)
    if obstacle is Obstacle.QUEUE_CLOSED:
        message = f"queue {name} is closed and starts no jobs until it is opened"
        return Reason(ReasonCode.QUEUE_LIMIT, message, details)
    share = situation.shares[name]
    if share.queue.maximum is not None:
        details |= {"used": as_json(share.used), "maximum": as_json(share.queue.maximum)}
    if obstacle is Obstacle.KEPT_IN_QUEUE and share.kept:
        return _explain_kept(kind, share, share.kept, details)
    return Reason(ReasonCode.QUEUE_LIMIT, _over_maximum(kind, share), details)


def _over_maximum(kind: Kind, share: Share) -> str:
    misfit = over_maximum(kind.total, share.queue)
    if misfit:
        return f"{misfit.message}; it can start only when that is raised"
    asked = kind.total
    dimension = next(d for d in DIMENSIONS if of(d, asked) > of(d, _most(share) - share.used))
    used, most = of(dimension, share.used), of(dimension, _most(share))
    return (
        f"needs {amount(dimension, of(dimension, asked))}; queue {share.queue.name} uses "
        f"{figure(dimension, used)} of the {figure(dimension, most)} that it may use at most"
    )


def _most(share: Share) -> Resources:
    return share.queue.maximum or share.used


def _explain_kept(kind: Kind, share: Share, kept: Kept, details: dict[str, Any]) -> Reason:
    message = (
        f"needs {amounts(kind.total)}; what queue {share.queue.name} may still use "
        f"is kept for job {kept.job_id}, which is ahead"
    )
    return Reason(ReasonCode.RESERVED_FOR_ANOTHER, message, {**details, "head": kept.job_id})
