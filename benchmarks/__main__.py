"""`make bench`: run all, or those named, print the table, and keep it in the docs when all were run."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks import (
    big_log,
    curves,
    dialects,
    files,
    gangs,
    inside,
    isolation,
    latency,
    many_jobs,
    memory,
    throughput,
)
from benchmarks.report import machine, table, write_page

BUILD = Path(__file__).resolve().parents[1] / "build"
ALL = {
    "throughput": throughput.run,
    "latency": latency.run,
    "memory": memory.run,
    "log": big_log.run,
    "jobs": many_jobs.run,
    "isolation": isolation.run,
    "gangs": gangs.run,
    "files": files.run,
    "dialects": dialects.run,
    "curves": curves.run,
    "inside": inside.run,
}


def main(wanted: list[str]) -> int:
    unknown = set(wanted) - set(ALL)
    if unknown:
        sys.exit(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    rows = []
    # Not in /tmp: tasks have a /tmp of their own, into which a home there would have to be put for each.
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=BUILD) as folder:
        for name, run in ALL.items():
            if not wanted or name in wanted:
                print(f"… {name}", file=sys.stderr, flush=True)
                rows += run(Path(folder))
    print(f"\n{machine()}\n\n{table(rows)}")
    if not wanted:
        write_page(rows)
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
