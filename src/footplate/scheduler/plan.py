"""One scheduling pass.

1. Count what is free on every node, and what every queue uses.
2. Leave out the jobs that pause or are held, and put the others in order.
3. Take them one by one; where a need was found not to fit, nobody else of that need is tried.
4. Hold back what its own queue does not allow to start.
5. Start each gang that fits, whole, in room that no job ahead of it needs. One for which there are no
   ports is left out as well: what it would have taken is for others. What an engine places by itself is
   handed over to it as it is.
6. Keep room for the first that does not fit: nodes for lack of resources, a part of the
   queue's maximum for one that is over it.
7. Leave the rest waiting, in an order and with reasons that are worked out when somebody asks; those that
   were left out stand among them in their place, and hold nobody up.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from footplate.domain.cluster import Placement
from footplate.scheduler.decisions import Plan, Refuse, Start
from footplate.scheduler.explain import Explainer
from footplate.scheduler.fit import can_ever_fit
from footplate.scheduler.line import Line, rank
from footplate.scheduler.needs import Need, Needs, limit_of
from footplate.scheduler.order import covered, put_first
from footplate.scheduler.pack import open_placement, pack
from footplate.scheduler.policy import Policy
from footplate.scheduler.situation import Obstacle, Situation
from footplate.scheduler.snapshot import PendingJob, Snapshot


def plan(snapshot: Snapshot, policy: Policy, now: float) -> Plan:
    """Decide which waiting jobs start now and where."""
    situation = Situation(snapshot, now)
    needs = Needs(situation.queues)
    line = Line.of(snapshot.pending)
    paused = _paused(line, now)
    left_out = situation.leave_out(paused, snapshot.holds)
    first = covered(line, left_out, needs, situation.shares)
    starts = _Walk(line, left_out, first, needs, situation).starts
    refusals: tuple[Refuse, ...] = ()
    if policy.refuse_impossible:
        refusals = _refuse_impossible(snapshot, line, left_out, needs)
    gone = {start.job_id for start in starts} | {refusal.job_id for refusal in refusals}

    def waiting() -> list[PendingJob]:
        left = [job for job in line.by_rank if job.id not in gone]
        if not left_out:
            return put_first({name: job for name, job in first.items() if name not in gone}, left)
        # Those that were left out stand where they would if they were tried now.
        return put_first(covered(Line.of(left), (), Needs(situation.queues), situation.shares), left)

    explainer = Explainer(situation, needs, waiting, policy)

    def has_room(job: PendingJob) -> bool:
        # Not found by identity: the shapes of this pass may be gone, and another may have taken their place.
        need = needs.add(job)
        may_start = situation.obstacle(job, need) in (None, Obstacle.KEPT_IN_QUEUE)
        return may_start and situation.has_room(need)

    return Plan(
        starts=tuple(starts),
        refusals=refusals,
        waiting=lambda: explainer.waiting,
        explain=explainer.explain,
        left_out=situation.left_out(job.id for job in explainer.waiting) if situation.leaves_out else (),
        wakes_at=min((job.pause.until for job in paused if job.pause is not None), default=None),
        next_port=situation.next_port,
        has_room=has_room,
    )


def _paused(line: Line, now: float) -> list[PendingJob]:
    """List the jobs that pause; a group pauses as a whole or not at all."""
    pausing = (group for group in line.groups if group[0].pause is not None)
    return [job for group in pausing for job in group if job.pauses(now)]


class _Walk:
    """Goes through the waiting jobs once, and starts those that can start."""

    def __init__(
        self,
        line: Line,
        left_out: Collection[str],
        first: Mapping[str, PendingJob],
        needs: Needs,
        situation: Situation,
    ) -> None:
        self.starts: list[Start] = []
        self._needs = needs
        self._situation = situation
        for job in first.values():
            self._meets(job)
        passed_by = {*left_out, *first}
        # Nearly always there are none, and then this look is all that it costs.
        line.visit((lambda job: job.id in passed_by or self._meets(job)) if passed_by else self._meets)

    def _meets(self, job: PendingJob) -> bool:
        """Start a job if it can; tell whether those behind it of the same need are worth a try."""
        need = self._needs.find(job)
        if need.first_waiting and (job.time_limit_s is None or job.time_limit_s >= need.blocked_from_s):
            return False
        placement = _find_place(job, need, self._situation)
        if placement is None:
            need.first_waiting = need.first_waiting or job.id
            return False
        if placed := self._situation.give_ports(job, placement):
            self._situation.start(job, need, placed)
            self.starts.append(Start(job.id, placed, job.attempt))
        return True


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


def _refuse_impossible(
    snapshot: Snapshot, line: Line, left_out: Collection[str], needs: Needs
) -> tuple[Refuse, ...]:
    """Refuse what no node could ever take; it cannot have started."""
    refused: list[tuple[PendingJob, Refuse]] = []
    for group in line.groups:
        need = needs.find(group[0])
        if need.queue is None:
            continue
        reason = can_ever_fit(need.shape, snapshot.nodes, need.queue, snapshot.engines)
        if reason is not None:
            refused += [(job, Refuse(job.id, reason, job.attempt)) for job in group if job.id not in left_out]
    return tuple(refusal for _, refusal in sorted(refused, key=lambda pair: rank(pair[0])))
