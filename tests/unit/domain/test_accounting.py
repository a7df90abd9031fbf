"""What jobs held is followed through their lives, and added up."""

from __future__ import annotations

from dataclasses import replace

from footplate.domain.accounting import Account, Held, Holding, Used, account, follow, holdings_of, report
from footplate.domain.advance import advance
from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.events import Placed, TaskExited
from footplate.domain.job import Job
from footplate.domain.resources import GIB, Resources
from footplate.domain.spec import RoleSpec
from footplate.domain.states import JobState
from footplate.testing.builders import AT, job, placement

ONE = Held(1000, GIB)
RUNNING = JobState.RUNNING


def holding(job_id: str, since: float, until: float, held: Held = ONE, **of: object) -> Holding:
    known = {"name": job_id, "owner": "ann", "queue": "default", "tags": (), "attempt": 0, **of}
    return Holding(job_id=job_id, since=since, until=until, held=held, **known)  # type: ignore[arg-type]


def gang(**types: str) -> Job:
    roles = tuple(RoleSpec("true", name=name, gpu_type=kind) for name, kind in types.items())
    return replace(job(), spec=replace(job().spec, roles=roles), tasks=())


def test_a_job_holds_from_its_placement_to_its_end() -> None:
    one = job()
    after, ended = follow(one, advance(one, Placed(AT, 0, placement(one.spec))).job, AT)
    assert (after.held_since, ended) == (AT, [])
    over = advance(after, TaskExited(AT + 60, 0, "main", 0, 0)).job
    done, ended = follow(after, over, AT + 60)
    assert done.held_since is None
    assert [(each.since, each.until) for each in ended] == [(AT, AT + 60)]
    assert ended[0].held.milli_cpus == one.spec.resources.milli_cpus


def test_a_move_that_changes_nothing_that_is_held_is_no_holding() -> None:
    one = job()
    after, _ = follow(one, advance(one, Placed(AT, 0, placement(one.spec))).job, AT)
    assert follow(after, replace(after, running_at=AT + 1), AT + 1) == (replace(after, running_at=AT + 1), [])


def test_cards_of_several_types_are_held_beside_each_other_and_the_rest_once() -> None:
    one = gang(chief="A100", worker="T4")
    tasks = [
        TaskPlacement("chief", 0, "n", Resources(2000, GIB, 1), (0,)),
        TaskPlacement("worker", 0, "n", Resources(1000, GIB, 2), (1, 2)),
    ]
    running = replace(one, state=RUNNING, placement=Placement(tuple(tasks)), held_since=AT, started_at=AT)
    held = [each.held for each in holdings_of(running, AT + 10)]
    assert held == [Held(3000, 2 * GIB, 1, "A100"), Held(gpus=2, gpu_type="T4")]


def test_what_is_given_back_early_is_held_no_longer() -> None:
    one = gang(main="")
    first = TaskPlacement("main", 0, "n", Resources(1000, GIB))
    second = TaskPlacement("main", 1, "n", Resources(1000, GIB))
    before = replace(one, state=RUNNING, placement=Placement((first, second)), held_since=AT, started_at=AT)
    after = replace(before, placement=Placement((first, replace(second, is_given_back=True))))
    kept, ended = follow(before, after, AT + 5)
    assert (kept.held_since, [each.held.milli_cpus for each in ended]) == (AT + 5, [2000])
    assert [each.held.milli_cpus for each in holdings_of(kept, AT + 9)] == [1000]


def test_a_clock_that_was_set_back_takes_nothing_back() -> None:
    running = replace(job(), state=RUNNING, placement=placement(job().spec), held_since=AT)
    assert [(one.since, one.until) for one in holdings_of(running, AT - 50)] == [(AT, AT)]


def test_only_what_lies_in_the_period_counts() -> None:
    held = [holding("a", 0, 100), holding("a", 100, 200), holding("b", 300, 400)]
    assert account(held, 50, 150) == [
        Account("a", "a", "ann", "default", (), Used(cpu_s=100, memory_byte_s=100 * GIB))
    ]
    assert account(held, 200, 300) == []


def test_a_report_adds_up_and_the_one_that_used_most_is_first() -> None:
    held = [
        holding("a", 0, 10, owner="ann", tags=("x", "y")),
        holding("b", 0, 10, Held(gpus=2, gpu_type="A100"), owner="bob"),
        holding("c", 0, 30, owner="ann", tags=("x",)),
    ]
    accounts = account(held, 0, 1000)
    lines, total = report(accounts, "user")
    assert [(line.key, line.n_jobs) for line in lines] == [("bob", 1), ("ann", 2)]
    assert (total.n_jobs, total.used) == (3, Used(40, 40 * GIB, (("A100", 20),)))
    tags = {line.key: line.used.cpu_s for line in report(accounts, "tag")[0]}
    assert tags == {"x": 40, "y": 10, "": 0}


def test_of_jobs_of_older_versions_the_start_is_known() -> None:
    running = replace(job(), state=RUNNING, placement=placement(job().spec), started_at=AT)
    assert [one.since for one in holdings_of(running, AT + 5)] == [AT]
