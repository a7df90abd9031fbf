"""What jobs cost by the server's prices: before they start, while they run, after restarts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from apiclient import NODE, Api, Data

from footplate.domain.kinds import Instant
from footplate.domain.prices import Prices
from footplate.domain.problems import Problems
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served
from footplate.wire import choices as wire_choices
from footplate.wire.accounting import AccountingReport, JobUse
from footplate.wire.jobs import DryRun

PRICES = Prices("EUR", cpu=0.36, gpu=3.6, types={"large": 7.2})


@pytest.fixture(scope="module")
def priced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    clock = FakeClock()
    home = tmp_path_factory.mktemp("priced")
    with served(home, FakeEngine(clock, [NODE]), clock, prices=PRICES) as running:
        yield running


@pytest.fixture
def boss(priced: Served) -> Iterator[Api]:
    with Api(priced, priced.sign_in(), "admin") as api:
        yield api


def cost(api: Api, job: Data) -> Data:
    return api.ok("GET", f"/jobs/{job['id']}/cost", JobUse)


def test_a_server_without_prices_shows_hours_only(ann: Api) -> None:
    job = ann.finished(cpus=1)
    found = cost(ann, job)
    assert (found["cost"], found["per_hour"], found["currency"]) == (None, None, "")
    assert ann.ok("POST", "/jobs/dry-run", DryRun, json={"name": "x", "command": "x"})["cost"] is None
    assert "cost" not in ann.call("GET", "/accounting/export").text.splitlines()[0]


def test_a_dry_run_says_what_a_job_would_cost(boss: Api) -> None:
    document = {"name": "x", "command": "x", "cpus": 2, "gpus": 1, "time_limit": "30m"}
    found = boss.ok("POST", "/jobs/dry-run", DryRun, json=document)["cost"]
    assert found == {"currency": "EUR", "per_hour": 4.32, "at_most": 2.16}
    assert boss.ok("POST", "/jobs/check", json=document)["dry_run"]["cost"] == found


def test_a_job_says_what_it_has_cost_so_far(boss: Api, priced: Served) -> None:
    assert isinstance(priced.clock, FakeClock)
    job = boss.running(cpus=1)
    priced.clock.advance(1000)
    assert cost(boss, job)["cost"] == pytest.approx(0.1, abs=0.001)
    boss.finish(job)
    boss.until(job, "SUCCEEDED")
    priced.clock.advance(5000)
    found = cost(boss, job)
    assert found["cost"] == pytest.approx(0.1, abs=0.001)
    line = next(
        one for one in boss.ok("GET", "/accounting", AccountingReport)["items"] if one["key"] == job["id"]
    )
    assert line["cost"] == found["cost"]
    assert "cost,currency" in boss.call("GET", "/accounting/export").text.splitlines()[0]


def test_an_instance_type_costs_its_own_price(boss: Api, priced: Served) -> None:
    assert isinstance(priced.clock, FakeClock)
    for name in ("large", "small"):
        boss.ok("PUT", f"/instance-types/{name}", json={"cpus": 1, "memory_bytes": 2**30})
    prices = {
        one["name"]: one["price"] for one in boss.ok("GET", "/instance-types", wire_choices.Types)["items"]
    }
    assert prices == {"large": 7.2, "small": 0.36}
    job = boss.running(type="large")
    priced.clock.advance(500)
    assert cost(boss, job)["cost"] == pytest.approx(1.0, abs=0.01)
    boss.finish(job)
    boss.until(job, "SUCCEEDED")
    assert cost(boss, job)["cost"] == pytest.approx(1.0, abs=0.01)


def test_costs_agree_with_the_event_log_to_the_second_over_restarts(tmp_path: Path) -> None:
    clock = FakeClock()
    engine = FakeEngine(clock, [NODE])
    with (
        served(tmp_path, engine, clock, prices=PRICES) as first,
        Api(first, first.sign_in(), "admin") as boss,
    ):
        job = boss.running(cpus=1, retry=1)
        clock.advance(100)
    clock.advance(50)
    with (
        served(tmp_path, engine, clock, prices=PRICES) as second,
        Api(second, second.sign_in(), "admin") as boss,
    ):
        clock.advance(25)
        boss.finish(job, code=1)
        boss.until(job, "RUNNING", attempt=1)
        clock.advance(10)
    with (
        served(tmp_path, engine, clock, prices=PRICES) as third,
        Api(third, third.sign_in(), "admin") as boss,
    ):
        boss.finish(job, attempt=1)
        boss.until(job, "SUCCEEDED")
        seconds = held_by_events(boss, job)
        assert seconds >= 185
        assert cost(boss, job)["cpu_hours"] * 3600 == pytest.approx(seconds, abs=1)
        assert cost(boss, job)["cost"] == pytest.approx(seconds / 3600 * 0.36, abs=0.36 / 3600)


def test_a_change_of_prices_leaves_what_is_past(tmp_path: Path) -> None:
    clock = FakeClock()
    engine = FakeEngine(clock, [NODE])
    dearer, free = Prices("EUR", cpu=3.6), Prices("EUR")

    with (
        served(tmp_path, engine, clock, prices=PRICES) as first,
        Api(first, first.sign_in(), "admin") as boss,
    ):
        job, other = boss.running(cpus=1), boss.running(cpus=1)
        clock.advance(1000)
        boss.finish(other)
        boss.until(other, "SUCCEEDED")
        done = cost(boss, other)["cost"]
        assert done == pytest.approx(0.1, abs=0.001)
    with (
        served(tmp_path, engine, clock, prices=dearer) as second,
        Api(second, second.sign_in(), "admin") as boss,
    ):
        assert cost(boss, other)["cost"] == done
        clock.advance(1000)
        found = cost(boss, job)
        assert found["cost"] == pytest.approx(0.1 + 1.0, abs=0.01)
        assert found["per_hour"] == 3.6
        report = boss.ok("GET", "/accounting", AccountingReport)
        lines = {one["key"]: one["cost"] for one in report["items"]}
        assert lines == {job["id"]: pytest.approx(found["cost"], abs=0.001), other["id"]: done}
        assert report["total"]["cost"] == pytest.approx(sum(lines.values()), abs=1e-5)
    with (
        served(tmp_path, engine, clock, prices=free) as third,
        Api(third, third.sign_in(), "admin") as boss,
    ):
        clock.advance(1000)
        boss.finish(job)
        boss.until(job, "SUCCEEDED")
        found = cost(boss, job)
        assert found["cost"] == pytest.approx(1.1, abs=0.01)
        assert (found["per_hour"], found["currency"]) == (None, "EUR")


def held_by_events(api: Api, job: Data) -> float:
    def at(event: Data) -> float:
        return float(Instant().read(event["at"], "at", Problems()))

    held, since = 0.0, None
    for event in api.ok("GET", f"/jobs/{job['id']}/events")["items"]:
        if event["kind"] == "starting":
            since = at(event)
        elif event["kind"] in ("requeued", "succeeded", "failed", "stopped") and since is not None:
            held, since = held + at(event) - since, None
    return held
