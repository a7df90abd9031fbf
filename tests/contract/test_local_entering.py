"""Commands run inside tasks of the local engine only where the tasks still have their place."""

from __future__ import annotations

import asyncio

import pytest
from localbench import WithEngine

from footplate.domain.errors import Conflict, EngineUnavailable
from footplate.engines.base import Ran
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.process.processes import marked
from footplate.engines.streams import run
from footplate.testing.engine_bench import Bench, on_loop

KEPT = {"keep_on_failure_s": 600}


class TestEntering(WithEngine):
    @on_loop
    async def test_no_command_outlives_the_stop_of_its_task(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("echo ready; sleep 600", spec=KEPT)
        launched = await bench.start(request)
        await bench.until_logged(launched, b"ready")

        async def enter(after_s: float) -> Ran:
            await asyncio.sleep(after_s)
            return await run(engine, request, "main", 0, ["sleep", "600"], timeout_s=600)

        entering = [asyncio.create_task(enter(0.004 * i)) for i in range(40)]
        await asyncio.sleep(0.05)
        await engine.stop(launched, grace_s=0)
        assert not list(marked([f"FOOTPLATE_ATTEMPT_ID={launched.id}"]))
        async with asyncio.timeout(20):
            ends = await asyncio.gather(*entering, return_exceptions=True)
        assert {type(end) for end in ends} <= {Ran, Conflict, EngineUnavailable}
        assert isinstance(ends[-1], Conflict), "nobody enters any more"
        assert not list(marked([f"FOOTPLATE_ATTEMPT_ID={launched.id}"]))

    @on_loop
    async def test_a_task_that_ended_and_is_not_kept_cannot_be_entered(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        for attempt, (command, spec) in enumerate([("exit 1", {}), ("exit 0", KEPT)]):
            request = bench.compile(command, spec=spec, attempt=attempt)
            await bench.until_over(await bench.start(request))
            with pytest.raises(Conflict, match="main-0 has ended"):
                await run(engine, request, "main", 0, ["true"])
