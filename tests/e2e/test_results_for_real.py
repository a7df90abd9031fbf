"""Results of real jobs, by the real command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.testing.process import ServerProcess


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("home")) as running:
        yield running


def results_of(server: ServerProcess, name: str) -> dict[str, Any]:
    shown = json.loads(server.command("show", name, "--json").stdout)
    found: dict[str, Any] = shown["results"]
    return found


def test_show_says_where_results_are_and_the_files_are_there(server: ServerProcess, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        "name: kept\ncommand: echo 0.97 >$FOOTPLATE_OUTPUT_DIR/accuracy; exit 1\n"
        "cpus: 0.5\nresults: home:runs\n"
    )
    assert server.command("submit", str(tmp_path / "job.yaml")).returncode == 0
    assert server.command("wait", "kept", "--results").returncode == 1
    shown = results_of(server, "kept")
    assert shown["is_complete"]
    assert f"home:{shown['path']} (1 file, 5B, saved" in server.command("show", "kept").stdout
    assert server.command("cat", f"home:{shown['path']}/accuracy").stdout == "0.97\n"
