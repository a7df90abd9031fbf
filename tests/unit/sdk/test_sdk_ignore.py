"""Ignore rules: the cases that the console is tested with too, and git itself beside them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from footplate.sdk.packing import select

Case = Mapping[str, Any]

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
CASES: list[Case] = json.loads((SAMPLES / "ignore_rules.json").read_text("utf-8"))

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"])


def laid_out(root: Path, case: Case) -> Path:
    texts = {**dict.fromkeys((*case["ignored"], *case["sent"]), ""), **case["ignore"]}
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return root


@every_case
def test_files_stay_behind_as_the_case_says(case: Case, tmp_path: Path) -> None:
    chosen = {entry.name for entry in select(laid_out(tmp_path, case)).entries}
    assert [name for name in case["ignored"] if name in chosen] == []
    assert [name for name in case["sent"] if name not in chosen] == []


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@every_case
def test_git_says_the_same_as_the_case(case: Case, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    asked = [*case["ignored"], *case["sent"]]
    answer = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z"],
        cwd=laid_out(tmp_path, case),
        input="".join(f"{name}\0" for name in asked),
        capture_output=True,
        text=True,
    )
    assert [name for name in answer.stdout.split("\0") if name] == case["ignored"]


def test_a_mark_of_the_byte_order_is_no_part_of_the_first_rule(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes("secret.pem\n".encode("utf-8-sig"))
    (tmp_path / "secret.pem").touch()
    assert [entry.name for entry in select(tmp_path).entries] == [".gitignore"]
