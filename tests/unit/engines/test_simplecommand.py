"""Commands that need no shell, and those that only seem so."""

from __future__ import annotations

import subprocess

import pytest

from footplate.engines.local.process.simplecommand import OF_THE_SHELL, words_of


@pytest.mark.parametrize(
    "command",
    [
        "true",
        "python train.py",
        "python -m torch.distributed.run --nproc-per-node=2 train.py --lr 1e-4",
        "./run.sh a:b,c@d +x 50%",
        "  sleep   600 ",
        "/opt/venv/bin/python -u train.py",
    ],
)
def test_what_a_shell_would_only_split_needs_none(command: str) -> None:
    assert words_of(command, ["PATH", "HOME"]) == command.split()


@pytest.mark.parametrize(
    "command",
    [
        "",
        " ",
        "a; b",
        "a | b",
        "a && b",
        "a &",
        "a > b",
        "a < b",
        "a $B",
        "a `b`",
        "a *.py",
        "a b?",
        "a [b]",
        "a {b,c}",
        "a ~/b",
        "a 'b'",
        'a "b"',
        "a \\b",
        "a # b",
        "a !b",
        "a (b)",
        "a^b",
        "a\nb",
        "a\tb",
        "A=1 b",
        "A=1",
        "echo a",
        "cd work",
        "time python train.py",
        "exec python train.py",
        "export A",
        "if",
        "a é",
    ],
)
def test_whatever_a_shell_could_see_more_in_is_left_to_it(command: str) -> None:
    assert words_of(command, []) == []


@pytest.mark.parametrize("name", ["BASH_ENV", "BASH_FUNC_python%%", "BASHOPTS", "SHELLOPTS"])
def test_a_shell_that_is_told_more_by_a_variable_is_asked(name: str) -> None:
    assert words_of("python train.py", ["PATH", name]) == []


def test_all_words_of_the_shell_are_known() -> None:
    listed = subprocess.run(
        ["bash", "-c", "compgen -b; compgen -k"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {word for word in listed if word[0].isalnum() or word in ".:"} - OF_THE_SHELL == {"true", "false"}
