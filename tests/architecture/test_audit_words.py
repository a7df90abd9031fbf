"""Every action of the audit trail has words in both languages of the console."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORDS = ROOT / "console/src/features/admin/audit/words.ts"


def actions() -> Iterator[str]:
    for file in (ROOT / "src/footplate").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("audit.change", "audit.note"):
                # One of two, by what is changed to.
                found = node.args[2]
                for one in (found.body, found.orelse) if isinstance(found, ast.IfExp) else (found,):
                    yield ast.literal_eval(one)


def test_every_action_has_words_in_both_languages() -> None:
    known = set(actions())
    assert len(known) > 15
    text = WORDS.read_text()
    assert {action for action in known if text.count(f"'{action}':") != 2} == set()
