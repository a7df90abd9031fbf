"""Contract tests of the sixth guarantee, enforced limits, for engines that run real commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.domain.errors import EngineError
from footplate.domain.resources import MIB, Resources
from footplate.domain.spec import RoleSpec
from footplate.domain.states import TaskState
from footplate.engines.base import Limit, ReadsUsage
from footplate.home.layout import code_folder
from footplate.testing.engine_bench import Bench, on_loop, until, upload, volume

# Two loops that never rest, for a second and a half; prints how long and how much CPU time they had.
BURN = """
began=$(date +%s%N)
(while :; do :; done) & (while :; do :; done) & sleep 1.5
kill %1 %2; wait || true
echo "wall $(( ($(date +%s%N) - began) / 1000000 ))"
times >times; tail -1 times
"""
# No line ever ends, so that all of it is kept in memory.
GROW = "head -c 300000000 /dev/zero | tail"
SMALL = Resources(1000, 64 * MIB)


def needs(bench: Bench, limit: Limit) -> None:
    if limit not in bench.engine.capabilities.limits:
        pytest.skip(f"this engine cannot hold tasks to their {limit} here")


def seconds(text: str) -> float:
    """Read `1m2.5s`."""
    minutes, rest = text.split("m")
    return 60 * int(minutes) + float(rest.rstrip("s"))


class LimitContract:
    """What a task asked for is what it gets, as far as the engine says."""

    @on_loop
    async def test_6_a_task_gets_no_more_cpu_than_it_asked_for(self, bench: Bench) -> None:
        needs(bench, "cpus")
        launched = await bench.launch(BURN, resources=Resources(300, 2**30))
        assert await bench.exit_code(launched) == 0
        wall, times = bench.log(launched).decode().splitlines()[-2:]
        used_s = sum(map(seconds, times.split()))
        asked_s = 0.3 * int(wall.split()[1]) / 1000
        assert 0.4 * asked_s < used_s < 1.4 * asked_s

    @on_loop
    async def test_6_a_task_that_outgrows_its_memory_ends_as_out_of_memory(self, bench: Bench) -> None:
        needs(bench, "memory")
        launched = await bench.launch(GROW, resources=SMALL)
        (seen,) = await bench.until_over(launched)
        assert (seen.state, seen.exit_code, seen.cause) == (TaskState.EXITED, 137, "oom")
        assert seen.limit_bytes == 64 * MIB
        assert seen.peak_bytes is not None
        assert 60 * MIB < seen.peak_bytes <= 65 * MIB
        assert str(seen.detail).startswith("out of memory: its limit is 64MB, its peak was 6")

    @on_loop
    async def test_6_an_out_of_memory_that_the_task_survived_is_no_cause(self, bench: Bench) -> None:
        needs(bench, "memory")
        launched = await bench.launch(f"({GROW}) || echo survived", resources=SMALL)
        (seen,) = await bench.until_over(launched)
        assert (seen.exit_code, seen.cause) == (0, "")
        assert seen.detail is not None
        assert seen.detail.code == "survived_kill"
        assert "out of memory: its limit is 64MB" in str(seen.detail)
        assert b"survived" in bench.log(launched)

    @on_loop
    async def test_6_a_failure_within_the_memory_limit_has_no_cause(self, bench: Bench) -> None:
        (seen,) = await bench.until_over(await bench.launch("kill -9 $$"))
        assert (seen.exit_code, seen.cause) == (137, "")

    @on_loop
    async def test_6_shared_memory_has_the_size_that_was_asked_for(self, bench: Bench) -> None:
        needs(bench, "shm")
        role = RoleSpec(
            "df -B1 /dev/shm | tail -1; head -c 40000000 /dev/zero >/dev/shm/x", shm_bytes=32 * MIB
        )
        launched = await bench.launch(role)
        assert await bench.exit_code(launched) == 1
        assert int(bench.log(launched).split()[1]) == 32 * MIB

    @on_loop
    async def test_6_shared_memory_counts_as_memory(self, bench: Bench) -> None:
        needs(bench, "shm")
        needs(bench, "memory")
        role = RoleSpec("head -c 200000000 /dev/zero >/dev/shm/x", shm_bytes=2**30)
        (seen,) = await bench.until_over(await bench.launch(role, resources=SMALL))
        assert seen.cause == "oom"

    @on_loop
    async def test_6_tasks_share_neither_shared_memory_nor_tmp(self, bench: Bench) -> None:
        needs(bench, "files")
        role = RoleSpec("echo mine >/tmp/fp-$RANK >/dev/shm/fp-$RANK; ls /tmp /dev/shm; sleep 600", count=2)
        launched = await bench.launch(role)
        for index in range(2):
            log = await bench.until_logged(launched, b"/dev/shm:", index=index)
            assert f"fp-{1 - index}".encode() not in log

    @on_loop
    async def test_6_a_task_sees_its_own_folders_and_not_those_of_others(self, bench: Bench) -> None:
        needs(bench, "files")
        other = bench.folder / "other"
        other.mkdir()
        (other / "secret").write_text("hush")
        role = RoleSpec(f"ls -a {other} || echo hidden; pwd; echo kept >result")
        launched = await bench.launch(role)
        assert await bench.exit_code(launched) == 0
        assert b"hidden" in bench.log(launched)
        assert (bench.task(launched) / "work" / "result").read_text() == "kept\n"

    @on_loop
    async def test_6_mounts_are_found_where_the_plan_puts_them(self, bench: Bench) -> None:
        needs(bench, "files")
        data, results = bench.folder / "data", bench.folder / "results"
        data.mkdir()
        results.mkdir()
        # Tasks may run as accounts of their own.
        results.chmod(0o1777)
        (data / "x").write_text("input")
        mounts = (
            volume(data, "/fp-data/set"),
            volume(results, "/fp-results", read_only=False),
            volume(data / "x", "/opt/fp/ml/hostfile"),
        )
        launched = await bench.launch(
            "cat /fp-data/set/x /opt/fp/ml/hostfile; echo out >/fp-results/y; ! echo no >/fp-data/set/z",
            volumes=mounts,
        )
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched).startswith(b"inputinput")
        assert (results / "y").read_text() == "out\n"
        assert not any(Path(path).exists() for path in ("/fp-data", "/fp-results", "/opt/fp"))

    @on_loop
    async def test_6_code_that_is_read_only_is_where_every_task_starts_and_cannot_be_changed(
        self, bench: Bench
    ) -> None:
        needs(bench, "files")
        code = bench.folder / "code"
        (code / "lib").mkdir(parents=True)
        (code / "lib" / "train.sh").write_text("cat data; ! touch lib/new && ! rm data && pwd")
        (code / "data").write_text("input\n")
        launched = await bench.launch(
            RoleSpec("sh lib/train.sh", count=2),
            spec={"code": upload(code, read_only=True)},
        )
        placed = code_folder(bench.home, launched.job_id)
        for one in await bench.until_over(launched):
            log = bench.log(launched, index=one.index).splitlines()
            assert (one.exit_code, log[0], log[-1]) == (0, b"input", str(placed).encode())
        assert sorted(path.name for path in placed.rglob("*")) == ["data", "lib", "train.sh"]

    @on_loop
    async def test_6_a_mount_leads_nowhere_outside_of_its_source(self, bench: Bench) -> None:
        needs(bench, "files")
        data = bench.folder / "data"
        data.mkdir()
        (bench.folder / "secret").mkdir()
        (data / "link").symlink_to(bench.folder / "secret")
        with pytest.raises(EngineError, match="leads out of its storage"):
            await bench.launch("true", volumes=(volume(data, "/fp-data", inner="link"),))

    @on_loop
    async def test_usage_counts_what_a_task_takes(self, bench: Bench) -> None:
        engine = bench.engine
        if not isinstance(engine, ReadsUsage):
            pytest.skip("this engine reads no usage")
        launched = await bench.launch(
            "(while :; do :; done) & head -c 50000000 /dev/zero | (tail; sleep 600)"
        )

        async def busy() -> bool | None:
            (one,) = await engine.usage([launched])
            return (one.cpu_s > 0.1 and one.memory_bytes > 0) or None

        await until(busy)
        await engine.stop(launched, grace_s=0)
        assert await engine.usage([launched]) == []
