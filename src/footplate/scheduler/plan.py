"""One scheduling pass.

1. Count what is free on every node, and what every queue uses.
2. Leave out the jobs that pause or are held, and put the others in order.
3. Take them one by one; a need that was found not to fit is not tried again.
4. Hold back what its own queue does not allow to start.
5. Start each gang that fits, whole, in room that no job ahead of it needs. One for which there are no
   ports is left out as well: what it would have taken is for others. What an engine places by itself is
   handed over to it as it is.
6. Keep room for the first that does not fit: nodes for lack of resources, a part of the
   queue's maximum for one that is over it.
7. Leave the rest waiting, in order, with a reason that is worked out when somebody asks; those that
   were left out stand among them in their place, and hold nobody up.
"""

from __future__ import annotations

from collections.abc import Sequence

from footplate.domain.cluster import Placement
from footplate.scheduler.decisions import Plan, Refuse, Start
from footplate.scheduler.explain import Explainer
from footplate.scheduler.fit import can_ever_fit
from footplate.scheduler.needs import Need, Needs, limit_of
from footplate.scheduler.order import in_order
from footplate.scheduler.pack import open_placement, pack
from footplate.scheduler.policy import Policy
from footplate.scheduler.situation import Obstacle, Situation
from footplate.scheduler.snapshot import PendingJob, Snapshot


def plan(snapshot: Snapshot, policy: Policy, now: float) -> Plan:
    """Decide which waiting jobs start now and where."""
    situation = Situation(snapshot, now)
    needs = Needs(situation.queues)
    # Nearly always nobody pauses, and then this look is all that it costs.
    paused = [job for job in snapshot.pending if job.pause is not None and job.pause.holds(now)]
    left_out = situation.leave_out(paused, snapshot.holds)
    awake: Sequence[PendingJob] = snapshot.pending
    idle: Sequence[PendingJob] = ()
    if left_out:
        awake = [job for job in snapshot.pending if job.id not in left_out]
        idle = [job for job in snapshot.pending if job.id in left_out]
    starts, waiting = _walk(in_order(awake, needs, situation.shares), needs, situation)
    refusals: tuple[Refuse, ...] = ()
    if policy.refuse_impossible:
        refusals = _refuse_impossible(snapshot, needs, waiting)
        refused = {refusal.job_id for refusal in refusals}
        waiting = [job for job in waiting if job.id not in refused]
    if idle:
        waiting = in_order([*waiting, *idle], Needs(situation.queues), situation.shares)
    order = tuple([job.id for job in waiting])
    explain = Explainer(situation, needs, waiting, policy).explain
    wakes_at = min((job.pause.until for job in paused if job.pause is not None), default=None)

    def has_room(job: PendingJob) -> bool:
        # Not found by identity: the shapes of this pass may be gone, and another may have taken their place.
        need = needs.add(job)
        may_start = situation.obstacle(job, need) in (None, Obstacle.KEPT_IN_QUEUE)
        return may_start and situation.has_room(need)

    return Plan(
        starts=tuple(starts),
        refusals=refusals,
        order=order,
        explain=explain,
        left_out=situation.left_out(order),
        wakes_at=wakes_at,
        next_port=situation.next_port,
        has_room=has_room,
    )


def _walk(
    ordered: list[PendingJob], needs: Needs, situation: Situation
) -> tuple[list[Start], list[PendingJob]]:
    starts: list[Start] = []
    waiting: list[PendingJob] = []
    by_identity = needs.by_identity
    for job in ordered:
        # With ten thousand jobs waiting, these lookups are most of what a pass costs.
        need = by_identity.get((job.queue, id(job.shape))) or needs.add(job)
        if need.first_waiting and (job.time_limit_s is None or job.time_limit_s >= need.blocked_from_s):
            waiting.append(job)
        elif placement := _find_place(job, need, situation):
            if placed := situation.give_ports(job, placement):
                situation.start(job, need, placed)
                starts.append(Start(job.id, placed, job.attempt))
            else:
                waiting.append(job)
        else:
            need.first_waiting = need.first_waiting or job.id
            waiting.append(job)
    return starts, waiting


def _find_place(job: PendingJob, need: Need, situation: Situation) -> Placement | None:
    """Find the place where a job can start now; if there is none, note why not and keep room for it."""
    obstacle = situation.obstacle(job, need)
    if obstacle is None and situation.is_handed_over(need):
        return open_placement(need.shape, need.engine)
    if obstacle is None:
        placement = pack(need.shape, situation.open_rooms(job, need))
        if placement is not None:
            return placement
        if situation.has_room(need):
            need.blocked_from_s = limit_of(job)
            return None
        situation.keep_nodes(job, need)
    elif obstacle is Obstacle.KEPT_IN_QUEUE:
        need.blocked_from_s = limit_of(job)
        return None
    elif obstacle is Obstacle.OVER_MAXIMUM:
        situation.keep_share(job, need)
    need.blocked_from_s = 0
    return None


def _refuse_impossible(snapshot: Snapshot, needs: Needs, waiting: list[PendingJob]) -> tuple[Refuse, ...]:
    reasons = {}
    for job in waiting:
        need = needs.find(job)
        if need not in reasons and need.queue is not None:
            reasons[need] = can_ever_fit(need.shape, snapshot.nodes, need.queue, snapshot.engines)
    verdicts = ((job, reasons.get(needs.find(job))) for job in waiting)
    return tuple(Refuse(job.id, reason, job.attempt) for job, reason in verdicts if reason is not None)
