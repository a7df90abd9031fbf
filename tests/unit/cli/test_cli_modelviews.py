"""What the command shows of models."""

from __future__ import annotations

import pytest

from footplate.cli.modelviews import print_comparison


def test_lists_are_told_as_people_write_them(capsys: pytest.CaptureFixture[str]) -> None:
    tags = {"first": ["nightly", "vision"], "second": []}
    print_comparison(
        {"fields": {"tags": tags}, "parameters": {}, "metrics": {}, "files": {}, "n_same_files": 1}
    )
    assert ["tags", "nightly,", "vision", "-"] in [
        line.split() for line in capsys.readouterr().out.splitlines()
    ]
