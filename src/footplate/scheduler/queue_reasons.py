"""Why a job waits on account of its own queue."""

from __future__ import annotations

from typing import Any

from footplate.domain.messages import Message, say
from footplate.domain.resources import Resources
from footplate.domain.states import Reason, ReasonCode
from footplate.scheduler.fit import over_maximum
from footplate.scheduler.needs import Need
from footplate.scheduler.phrases import DIMENSIONS, amount, as_json, of
from footplate.scheduler.shares import Kept, Share
from footplate.scheduler.situation import Obstacle, Situation


def explain_obstacle(obstacle: Obstacle, need: Need, situation: Situation) -> Reason:
    """Put into words what a queue does not allow."""
    name = need.queue_name
    facts: dict[str, Any] = {
        "queue": name,
        "needed": as_json(need.total),
        "obstacle": obstacle.name.lower(),
    }
    if obstacle is Obstacle.NO_QUEUE:
        return Reason(ReasonCode.QUEUE_LIMIT, say("queue_unknown", queue=name), facts)
    if obstacle is Obstacle.QUEUE_CLOSED:
        return Reason(ReasonCode.QUEUE_LIMIT, say("queue_starts_nothing", queue=name), facts)
    if obstacle is Obstacle.NO_ENGINE:
        said = say("queue_without_engine", queue=name, engine=need.engine)
        return Reason(ReasonCode.ENGINE_AWAY, said, facts)
    if obstacle is Obstacle.ENGINE_AWAY:
        said = say("engine_away", engine=need.engine, why=situation.away[need.engine])
        return Reason(ReasonCode.ENGINE_AWAY, said, facts)
    share = situation.shares[name]
    if share.queue.maximum is not None:
        facts |= {"used": as_json(share.used), "maximum": as_json(share.queue.maximum)}
    if obstacle is Obstacle.KEPT_IN_QUEUE and share.kept:
        return _explain_kept(need, share, share.kept, facts)
    return Reason(ReasonCode.QUEUE_LIMIT, _over_maximum(need, share), facts)


def _over_maximum(need: Need, share: Share) -> Message:
    misfit = over_maximum(need.total, share.queue)
    if misfit:
        return say("until_maximum_raised", why=misfit.said)
    asked = need.total
    dimension = next(d for d in DIMENSIONS if of(d, asked) > of(d, _most(share) - share.used))
    return say(
        "queue_uses",
        asked=amount(dimension, of(dimension, asked)),
        queue=share.queue.name,
        used_of_it=amount(dimension, of(dimension, share.used)),
        most=amount(dimension, of(dimension, _most(share))),
    )


def _most(share: Share) -> Resources:
    return share.queue.maximum or share.used


def _explain_kept(need: Need, share: Share, kept: Kept, facts: dict[str, Any]) -> Reason:
    said = say("rest_of_queue_reserved", needed=as_json(need.total), queue=share.queue.name, head=kept.job_id)
    return Reason(ReasonCode.RESERVED_FOR_ANOTHER, said, facts)
