"""Ports: none twice, asked ones where they were asked, and jobs without any hold nobody up."""

from __future__ import annotations

from dataclasses import replace

from footplate.domain.cluster import GIVEN_PORTS, Placement
from footplate.domain.messages import text
from footplate.domain.resources import Resources
from footplate.domain.spec import JobSpec
from footplate.domain.states import Reason, ReasonCode
from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.scheduler.ports import PortLedger, PortRoom, port_needs
from footplate.scheduler.snapshot import Hold, PendingJob, Snapshot, pending_of
from footplate.testing.builders import job, placement, spec
from footplate.testing.scheduling import node, queue

LAST = GIVEN_PORTS[-1]


def numbers(placed: Placement | None) -> list[tuple[str, tuple[int, ...]]]:
    assert placed is not None
    return [pair for task in placed.tasks for pair in task.ports]


def given(asked: JobSpec, ledger: PortLedger | None = None) -> list[tuple[str, tuple[int, ...]]]:
    ledger = ledger or PortLedger(PortRoom(), ())
    return numbers(ledger.give(port_needs(asked), placement(asked)))


def test_every_task_gets_a_main_port_and_what_its_role_asks_for() -> None:
    found = given(spec(count=2, ports=[{"label": "grpc", "count": 2}]))
    assert [label for label, _ in found] == ["main", "grpc", "main", "grpc"]
    flat = [port for _, ports in found for port in ports]
    assert len(set(flat)) == 6
    assert all(port in GIVEN_PORTS for port in flat)


def test_the_search_begins_where_it_is_told_and_goes_round() -> None:
    assert given(spec(count=2), PortLedger(PortRoom(LAST), ())) == [
        ("main", (LAST,)),
        ("main", (GIVEN_PORTS[0],)),
    ]


def test_ports_of_running_jobs_on_the_same_node_are_not_given_again() -> None:
    asked = spec(ports=[{"label": "web", "begin_at": 6006}])
    first = PortLedger(PortRoom(), ()).give(port_needs(asked), placement(asked))
    assert first is not None
    assert numbers(first)[1] == ("web", (6006,))
    assert given(asked, PortLedger(PortRoom(), [first]))[1] == ("web", (6007,))
    elsewhere = replace(first, tasks=tuple(replace(task, node="other") for task in first.tasks))
    assert given(asked, PortLedger(PortRoom(), [elsewhere]))[1] == ("web", (6006,))


def test_tasks_of_a_role_on_one_node_get_ports_one_after_the_other() -> None:
    found = given(spec(count=3, ports=[{"label": "web", "begin_at": 6006, "count": 2}]))
    assert [ports for label, ports in found if label == "web"] == [(6006, 6007), (6008, 6009), (6010, 6011)]


def test_a_main_port_that_the_user_asks_for_is_that_one() -> None:
    asked = spec(ports=[{"label": "main", "begin_at": 6006, "count": 3}])
    assert given(asked) == [("main", (6006, 6007, 6008))]


def test_a_port_that_strangers_use_is_passed_over() -> None:
    asked = spec(ports=[{"label": "web", "begin_at": 6006}])
    name = placement(asked).tasks[0].node
    assert given(asked, PortLedger(PortRoom(busy={name: frozenset({6006})}), ()))[1] == ("web", (6007,))


def test_a_port_that_was_given_back_is_not_given_out_at_once_and_the_range_is_gone_round() -> None:
    ledger, asked = PortLedger(PortRoom(), ()), spec(ports=[{"label": "many", "count": 60}])
    first = given(asked, ledger)
    later = PortLedger(PortRoom(ledger.begin_at), ())
    assert not {ports for _, ports in first} & {ports for _, ports in given(asked, later)}
    for _ in range(300):
        later = PortLedger(PortRoom(later.begin_at), ())
        assert given(asked, later)


def test_a_gang_that_finds_too_few_takes_none() -> None:
    asked = spec(count=2, ports=[{"label": "web", "begin_at": 65_535}])
    ledger = PortLedger(PortRoom(), ())
    assert ledger.give(port_needs(asked), placement(asked)) is None
    assert ledger.begin_at == GIVEN_PORTS[0]
    one = spec(ports=[{"label": "web", "begin_at": 65_535}])
    assert given(one, ledger) == [("main", (GIVEN_PORTS[0],)), ("web", (65_535,))]


def waiting(number: int, **fields: object) -> PendingJob:
    return pending_of(job(f"{number:012d}", name=f"job-{number}", cpus=1, **fields))


def seen(*pending: PendingJob, cpus: int = 2, **more: object) -> Snapshot:
    return Snapshot((node(cpus=cpus),), (queue(),), (), pending, **more)  # type: ignore[arg-type]


PORT = [{"label": "web", "begin_at": 65_535}]


def test_a_job_without_ports_is_left_out_and_its_room_is_for_others() -> None:
    first, second, third = waiting(1, ports=PORT), waiting(2, ports=PORT), waiting(3)
    planned = plan(seen(first, second, third), Policy(), 0)
    assert [start.job_id for start in planned.starts] == [first.id, third.id]
    assert planned.order == (second.id,)
    reason = planned.explain(second.id)
    assert (reason.code, reason.details) == (ReasonCode.NO_PORTS, {"ahead": 0})


def test_a_job_without_ports_is_ahead_of_nobody() -> None:
    jobs = [waiting(1, ports=PORT), waiting(2, ports=PORT), waiting(3), waiting(4)]
    planned = plan(seen(*jobs), Policy(), 0)
    assert planned.order == (jobs[1].id, jobs[3].id)
    assert planned.explain(jobs[3].id).details["ahead"] == 0


def test_a_pass_goes_on_with_ports_where_it_has_ended() -> None:
    planned = plan(seen(waiting(1), waiting(2)), Policy(), 0)
    ports = [ports for start in planned.starts for _, ports in numbers(start.placement)]
    assert ports == [(GIVEN_PORTS[0],), (GIVEN_PORTS[1],)]
    assert planned.next_port == GIVEN_PORTS[2]
    assert plan(seen(ports=PortRoom(LAST)), Policy(), 0).next_port == LAST


def test_a_job_that_is_held_waits_with_the_reason_of_its_hold_and_holds_nobody_up() -> None:
    silent = Reason(ReasonCode.STORAGE_SILENT, text("storage sets does not answer"), {"storage": "sets"})
    held, other, last = waiting(1), waiting(2), waiting(3)
    planned = plan(seen(held, other, last, cpus=1, holds=(Hold(held.id, silent),)), Policy(), 0)
    assert [start.job_id for start in planned.starts] == [other.id]
    assert planned.order == (held.id, last.id)
    assert planned.explain(held.id) == Reason(silent.code, silent.said, {"storage": "sets", "ahead": 0})
    assert planned.explain(last.id).details["ahead"] == 0
    assert planned.wakes_at is None


def test_a_hold_of_a_job_that_does_not_wait_changes_nothing() -> None:
    reason = Reason(ReasonCode.STORAGE_SILENT, text("storage sets does not answer"))
    planned = plan(seen(waiting(1), holds=(Hold("gone", reason),)), Policy(), 0)
    assert [start.job_id for start in planned.starts] == [waiting(1).id]
    assert planned.order == ()


def test_what_the_scheduler_sees_of_a_job_has_its_ports_and_attempt() -> None:
    one = pending_of(replace(job(count=2), attempt=3))
    assert (one.attempt, list(one.ports), one.shape[0].resources) == (3, ["main"], Resources(1000, 2**30, 0))
