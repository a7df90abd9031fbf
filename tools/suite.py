"""The whole test suite: several files at a time, then the tests that want the machine for themselves."""

from __future__ import annotations

import signal
import subprocess
import sys

# What to look at when the suite takes too long.
SLOWEST = "--durations=40"
PARTS = (
    ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder", "-m", "not alone"),
    ("-m", "alone"),
)
# Of pytest, after Ctrl-C.
INTERRUPTED = 2


def run(command: list[str]) -> int:
    """Run to the end, or until we are told to end: nothing goes on without us."""
    print(" ".join(command), flush=True)
    with subprocess.Popen(command) as process:
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        return process.wait()


def main(words: list[str]) -> int:
    """Run all parts, whatever comes of the first, and return the worst of their statuses."""
    worst = 0
    for part in PARTS:
        status = run([sys.executable, "-m", "pytest", "-q", SLOWEST, *part, *words])
        # One that a signal has ended is negative.
        worst = max(worst, status if status >= 0 else 128 - status)
        if status < 0 or status == INTERRUPTED:
            break
    return worst


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
