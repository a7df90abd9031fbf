"""The verb redirect: what it gives to the program that it becomes."""

from __future__ import annotations

import os
import subprocess
import sys

PRINT = """
import os, sys
print(os.environ["FOOTPLATE_REDIRECT_URL"], "sitecustomize" in sys.modules, sys.argv[1:])
"""


def redirect(*words: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "FOOTPLATE_URL": "http://127.0.0.1:1", "FOOTPLATE_TOKEN": "none"}
    command = [sys.executable, "-m", "footplate", "redirect", *words]
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


def test_a_program_runs_in_place_of_the_command_and_knows_the_server() -> None:
    done = redirect("--", sys.executable, "-c", PRINT, "--own", "words")
    assert done.stdout == "http://127.0.0.1:1 True ['--own', 'words']\n"
    assert done.returncode == 0


def test_the_exit_code_is_the_program_s() -> None:
    assert redirect("--", sys.executable, "-c", "raise SystemExit(7)").returncode == 7


def test_a_program_that_is_not_there_is_told() -> None:
    done = redirect("--", "no-such-program")
    assert (done.returncode, done.stderr) == (127, "There is no program no-such-program.\n")
