"""Public names use the words of the glossary, and none that it replaces."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "footplate").rglob("*.py"))
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"


def rows() -> list[tuple[str, str, list[str]]]:
    """The words of the glossary: each with its meaning, and what is not said instead."""
    lines = [line for line in GLOSSARY.read_text().splitlines() if line.startswith("| ")][2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [
        (word, meaning, [one.strip() for one in others.split(",") if one.strip()])
        for word, meaning, others in cells
    ]


def words_of(name: str) -> set[str]:
    """The words of a name, however they are joined."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")
    return set(filter(None, parts))


def public_names(path: Path) -> Iterator[str]:
    """The name of a module, and those of its public classes, functions and fields."""
    yield path.stem
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if not node.name.startswith("_"):
                yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def test_no_public_name_uses_a_word_that_the_glossary_replaces() -> None:
    replaced = {other: word for word, _, others in rows() for other in others}
    assert len(replaced) >= 10
    wrong = [
        f"{path.relative_to(ROOT)}: {name} (say {replaced[word]})"
        for path in SOURCES
        for name in public_names(path)
        for word in words_of(name) & replaced.keys()
    ]
    assert wrong == []


def test_every_word_of_the_glossary_has_a_meaning_and_stands_once() -> None:
    words = [word for word, _, _ in rows()]
    assert len(words) == len(set(words))
    assert all(meaning for _, meaning, _ in rows())
    assert not set(words) & {other for _, _, others in rows() for other in others}


def test_words_are_found_in_names_of_every_form() -> None:
    assert words_of("RunTimesOf") == {"run", "times", "of"}
    assert words_of("start_of") == {"start", "of"}
    assert list(public_names(GLOSSARY.parent / "../../src/footplate/scheduler/needs.py"))[:2] == [
        "needs",
        "Need",
    ]
