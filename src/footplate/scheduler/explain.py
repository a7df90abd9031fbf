"""Explains why a job waits: computed on request, from the state at the end of the last pass."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from footplate.domain.kinds import show_instant
from footplate.domain.messages import Message, say
from footplate.domain.states import Reason, ReasonCode
from footplate.scheduler.fit import Misfit, misfit_on_empty
from footplate.scheduler.ledger import Ledger, Room
from footplate.scheduler.needs import Need, Needs, limit_of
from footplate.scheduler.pack import fits, total_of
from footplate.scheduler.phrases import as_json
from footplate.scheduler.policy import Policy
from footplate.scheduler.queue_reasons import explain_obstacle
from footplate.scheduler.reserve import Reservation, suitable_nodes
from footplate.scheduler.shortage import describe, find_shortage, numbers, smaller_ask
from footplate.scheduler.situation import Situation
from footplate.scheduler.snapshot import PendingJob


class Explainer:
    """Answers for the jobs that one pass left waiting; equal jobs share all but their place in line."""

    def __init__(
        self,
        situation: Situation,
        needs: Needs,
        find_waiting: Callable[[], Sequence[PendingJob]],
        policy: Policy,
    ) -> None:
        self._situation = situation
        self._kinds = needs
        self._find_waiting = find_waiting
        self._policy = policy
        self._shared: dict[tuple[object, ...], Reason] = {}

    def explain(self, job_id: str) -> Reason:
        """Say why a waiting job waits; KeyError when it does not."""
        job, n_ahead = self._line[job_id]
        if why := self._situation.why_left_out(job_id):
            return Reason(why.code, why.said, {**why.facts, "ahead": n_ahead})
        need = self._kinds.find(job)
        reason = self._reason_shared_by_equals(job, need)
        facts = {**reason.facts, "ahead": n_ahead}
        if not n_ahead:
            return Reason(reason.code, reason.said, facts)
        if reason.code is ReasonCode.INSUFFICIENT_RESOURCES and need.first_waiting != job_id:
            return Reason(ReasonCode.BEHIND_OTHERS, say("behind", ahead=n_ahead, why=reason.said), facts)
        return Reason(reason.code, say("with_ahead", why=reason.said, ahead=n_ahead), facts)

    @cached_property
    def waiting(self) -> Sequence[PendingJob]:
        """The jobs that wait, first to start first."""
        return self._find_waiting()

    @cached_property
    def _line(self) -> dict[str, tuple[PendingJob, int]]:
        """Count who is ahead of whom; a job that could not start anyway is ahead only within its queue.

        One that was left out is ahead of nobody.
        """
        n_contending, n_held = 0, Counter[str]()
        is_held: dict[Need, bool] = {}
        line = {}
        for job in self.waiting:
            line[job.id] = job, n_contending + n_held[job.queue]
            if self._situation.why_left_out(job.id):
                continue
            need = self._kinds.find(job)
            if need not in is_held:
                is_held[need] = self._is_held_back(need)
            if is_held[need]:
                n_held[job.queue] += 1
            else:
                n_contending += 1
        return line

    def _is_held_back(self, need: Need) -> bool:
        if need.queue is None or not need.queue.is_open or need.engine in self._situation.away:
            return True
        share = self._situation.shares.get(need.queue_name)
        is_over_maximum = share is not None and not share.has_room(need.total)
        return is_over_maximum or self._explain_no_node(need) is not None

    def _reason_shared_by_equals(self, job: PendingJob, need: Need) -> Reason:
        obstacle = self._situation.obstacle(job, need)
        in_the_way = self._in_the_way(job)
        own = next((r for r in self._situation.reservations if r.job_id == job.id), None)
        key = (need, obstacle, own and own.job_id, *(ahead.job_id for ahead in in_the_way))
        if key not in self._shared:
            if obstacle:
                self._shared[key] = explain_obstacle(obstacle, need, self._situation)
            else:
                self._shared[key] = self._explain_nodes(job, need, own, in_the_way)
        return self._shared[key]

    def _in_the_way(self, job: PendingJob) -> list[Reservation]:
        ends_at = self._situation.now + limit_of(job)
        return [r for r in self._situation.reservations if r.job_id != job.id and r.binds(ends_at)]

    def _explain_nodes(
        self, job: PendingJob, need: Need, own: Reservation | None, in_the_way: Sequence[Reservation]
    ) -> Reason:
        if no_node := self._explain_no_node(need):
            return no_node
        rooms = self._situation.free_rooms(need)
        names = suitable_nodes(need.shape, need.among(self._empty))
        head = next((ahead for ahead in in_the_way if ahead.spare.keys() & names), None)
        if head and fits(need.shape, rooms):
            return _explain_reserved(need, head, self._situation.now)
        facts, clauses = self._explain_shortage(job, need, rooms)
        if own:
            expected, more = _expected_start(own, self._situation.now)
            clauses.append(expected)
            facts |= more
        elif first := next((r for r in self._situation.reservations if r.suitable & names), None):
            facts["head"] = first.job_id
        return Reason(ReasonCode.INSUFFICIENT_RESOURCES, _joined(clauses), facts)

    def _explain_no_node(self, need: Need) -> Reason | None:
        misfit = self._misfit(need, need.among(self._empty))
        if misfit is None:
            return None
        for engine, why in self._situation.away.items():
            # Its nodes may be the ones that would do.
            said = say("engine_away_without", engine=engine, why=why, misfit=misfit.said)
            return Reason(ReasonCode.ENGINE_AWAY, said, {**misfit.facts, "engine": engine})
        return Reason(ReasonCode.NO_NODE, misfit.said, misfit.facts)

    def _misfit(self, need: Need, rooms: Sequence[Room]) -> Misfit | None:
        if rooms:
            return misfit_on_empty(need.shape, rooms, {"service": "in_service"})
        is_some = need.nodes or need.engine
        drained = [
            say("node_drained_by", node=node.name, who=node.drained_by)
            for node in self._situation.drained
            if need.queue is None or need.queue.may_use(node)
        ][: self._policy.n_nodes_explained]
        said = (
            say("no_node_in_service", queue=need.queue_name, drained=drained)
            if is_some
            else say("no_node_at_all", drained=drained)
        )
        return Misfit(said, {"needed": as_json(need.total), "n_nodes": 0})

    @cached_property
    def _empty(self) -> Ledger:
        return Ledger.of(self._situation.nodes, with_others=True)

    def _explain_shortage(
        self, job: PendingJob, need: Need, rooms: Sequence[Room]
    ) -> tuple[dict[str, Any], list[Message]]:
        shortage = find_shortage(need.shape, rooms)
        facts = numbers(need.shape, shortage, rooms, self._policy.n_nodes_explained)
        clauses = [describe(need.shape, shortage, rooms)]
        hint, would_fit = smaller_ask(need.shape, shortage, self._situation.open_rooms(job, need))
        if hint:
            facts["would_fit"] = would_fit
            clauses.append(hint)
        return facts, clauses


def _joined(clauses: list[Message]) -> Message:
    return clauses[0] if len(clauses) == 1 else say("clauses", clauses=clauses)


def _expected_start(own: Reservation, now: float) -> tuple[Message, dict[str, Any]]:
    """Say when or where the job that is next on its nodes will start."""
    nodes = sorted(own.spare)
    if own.at is None:
        return say("nodes_reserved", reserved_nodes=nodes), {"reserved_nodes": nodes}
    facts = {"reserved_nodes": nodes, "expected_start_at": own.at}
    if own.at <= now:
        return say("starts_any_moment"), facts
    return say("starts_by", at=show_instant(own.at)), facts


def _explain_reserved(need: Need, head: Reservation, now: float) -> Reason:
    clauses = [say("reserved_for", head=head.job_id, head_needs=as_json(total_of(head.shape)))]
    facts: dict[str, Any] = {
        "needed": as_json(need.total),
        "head": head.job_id,
        "reserved_nodes": sorted(head.spare),
    }
    if head.at is not None and (left_s := math.floor(head.at - now)) > 0:
        shown_s = left_s - left_s % 60 if left_s >= 120 else left_s
        clauses.append(say("shorter_would_start", limit_s=shown_s))
        facts |= {"head_start_at": head.at, "would_fit": {"time_limit_s": left_s}}
    return Reason(ReasonCode.RESERVED_FOR_ANOTHER, _joined(clauses), facts)
