"""What is said of a task that ran out of memory, whether or not it survived that."""

from __future__ import annotations

import pytest

from footplate.engines.local.observe import task
from footplate.engines.local.observe.records import Claim, Exit

MB = 1024 * 1024
SAID = "out of memory: its limit is 64MB, its peak was 64MB"


@pytest.mark.parametrize(
    ("code", "cause", "said"),
    [
        (137, "oom", SAID),
        (0, "", f"continued after one of its processes was killed: {SAID}"),
    ],
)
def test_a_lack_of_memory_leaves_a_trace(code: int, cause: str, said: str) -> None:
    end = Exit(code, 2.0, n_oom_kills=1, limit_bytes=64 * MB, peak_bytes=64 * MB)
    seen = task._exited(Claim(None, 1.0), end)
    assert (seen.exit_code, seen.cause, str(seen.detail)) == (code, cause, said)
