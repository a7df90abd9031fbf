"""The command line, run in this process."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from footplate.cli.main import run


@dataclass
class Result:
    exit_code: int
    out: str
    err: str


class Command:
    """Calls `footplate` with arguments and returns what a shell would see."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *arguments: str) -> Result:
        exit_code = run(arguments)
        out, err = self._capture.readouterr()
        return Result(exit_code, out, err)
