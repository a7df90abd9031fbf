"""The whole test suite: several files at a time, then the tests that want the machine for themselves."""

from __future__ import annotations

import subprocess
import sys

PARTS = (
    ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder", "-m", "not alone"),
    ("-m", "alone"),
)
INTERRUPTED = 2


def main(words: list[str]) -> int:
    """Run all parts, whatever comes of the first, and return the worst of their statuses."""
    worst = 0
    for part in PARTS:
        command = [sys.executable, "-m", "pytest", "-q", *part, *words]
        print(" ".join(command), flush=True)
        # Negative after a signal, which is worse than any status of pytest's own.
        status = subprocess.run(command, check=False).returncode % 256
        worst = max(worst, status)
        if status == INTERRUPTED:
            break
    return worst


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
