"""A colleague types one line on a machine that has nothing of ours."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from footplate.testing.process import ServerProcess

NO_INDEX = ("No matching distribution", "Could not fetch URL", "Failed to establish a new connection")


def type_line(line: str, home: Path, stdin: str) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell that knows nothing but where it is at home."""
    kept = {name: os.environ[name] for name in os.environ if name.startswith("PIP_") or name == "PATH"}
    return subprocess.run(
        ["sh", "-c", line],
        env={**kept, "HOME": str(home)},
        cwd=home,
        input=stdin,
        text=True,
        capture_output=True,
        check=False,
        timeout=200,
    )


def test_one_line_installs_the_client_from_the_server_and_logs_in(
    server: ServerProcess, tmp_path: Path
) -> None:
    made = server.command("invite", "colleague")
    assert made.returncode == 0, made.stderr
    (line,) = made.stdout.splitlines()
    assert "it works once" in made.stderr
    assert "Only this machine can reach" in made.stderr
    done = type_line(f"{line} --password-stdin", tmp_path, "a password of my own\n")
    said = done.stdout + done.stderr
    if done.returncode and any(words in said for words in NO_INDEX):
        pytest.skip("no package index can be reached, for what the client needs")
    if done.returncode and "ensurepip" in said:
        pytest.skip("this machine cannot make virtual environments: the package is called `python3-venv`")
    assert done.returncode == 0, done.stderr
    assert f"Welcome, colleague: you are logged in at {server.url}" in done.stdout
    assert "export PATH=" in done.stdout
    client = tmp_path / ".footplate-client" / "bin" / "footplate"
    ran = type_line(f"{client} submit -n from-laptop -f -- echo hello", tmp_path, "")
    assert "hello" in ran.stdout, ran.stderr
    listed = type_line(f"{client} whoami --json", tmp_path, "")
    assert json.loads(listed.stdout)["name"] == "colleague"

    again = type_line(f"{client} join {line.rpartition(' ')[2]} --password-stdin", tmp_path, "another one\n")
    assert again.returncode == 1
    assert "was used, has expired or does not exist: ask an admin for a new one" in again.stderr
