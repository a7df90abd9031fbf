"""OpenPAI's JavaScript client and its command, driven in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CALLS_S = 300


@dataclass(frozen=True)
class OpenPai:
    """OpenPAI's JavaScript client and its command, in a folder of their own."""

    folder: Path
    cluster: dict[str, Any]

    def call(self, *calls: tuple[str, str, list[Any]], **cluster: Any) -> list[dict[str, Any]]:
        """Call methods in one process; each answers with a `value` or an `error`."""
        return list(self._drive(calls, cluster)["results"])

    def methods(self) -> dict[str, list[str]]:
        return dict(self._drive((), {})["methods"])

    def _drive(self, calls: Any, cluster: dict[str, Any]) -> dict[str, Any]:
        asked = {
            "cluster": {**self.cluster, **cluster},
            "calls": [{"on": on, "call": call, "args": args} for on, call, args in calls],
        }
        done = subprocess.run(
            ["node", "drive.js"],
            cwd=self.folder,
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=False,
            timeout=CALLS_S,
        )
        assert done.returncode == 0, done.stderr
        # Before it, the client may have printed words of its own.
        read: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return read

    def command(self, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the command `pai`, which keeps its clusters in the home folder."""
        program = self.folder / "node_modules" / ".bin" / "pai"
        return subprocess.run(
            [program, *words],
            env={**os.environ, "HOME": str(home)},
            capture_output=True,
            text=True,
            check=False,
            timeout=CALLS_S,
        )
