"""Names use the words of the glossary, and none that it replaces."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "footplate").rglob("*.py"))
SCRIPTS = sorted(path for path in (ROOT / "console" / "src").rglob("*.ts*") if path.name != "schema.ts")
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


def names_in(path: Path) -> Iterator[str]:
    """The name of a module, and those of its classes, functions and fields, private ones included."""
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


DECLARED = re.compile(
    r"^\s*(?:export )?(?:default )?(?:async )?(?:function\*?|class|interface|type|enum|const|let) (\w+)"
    r"|^ +(?:(?:private|protected|static|async|get|set) )*(\w+)\([^()]*\)(?:: [^{]+)? \{$",
    re.MULTILINE,
)


def script_names_in(path: Path) -> Iterator[str]:
    """The same of a module of the console, with its constants, since functions are such too."""
    yield path.name.partition(".")[0]
    for declared in DECLARED.finditer(path.read_text()):
        yield declared[1] or declared[2]


def every_name() -> Iterator[tuple[Path, str]]:
    yield from ((path, name) for path in SOURCES for name in names_in(path))
    yield from ((path, name) for path in SCRIPTS for name in script_names_in(path))


def test_no_name_uses_a_word_that_the_glossary_replaces() -> None:
    replaced = {other: word for word, _, others in rows() for other in others}
    assert len(replaced) >= 15
    wrong = [
        f"{path.relative_to(ROOT)}: {name} (say {replaced[word]})"
        for path, name in every_name()
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
    assert list(names_in(ROOT / "src/footplate/scheduler/needs.py"))[:2] == ["needs", "Need"]


def test_names_of_the_console_are_found(tmp_path: Path) -> None:
    script = tmp_path / "aGlance.test.ts"
    script.write_text(
        "export async function first() {}\nexport interface Second {}\nconst third = () => 3;\n"
        "class Fourth {\n  private fifth(one: number): string {\n    if (one) {\n    }\n  }\n}\n"
    )
    names = set(script_names_in(script))
    assert names >= {"aGlance", "first", "Second", "third", "Fourth", "fifth"}
    assert words_of("aGlance") == {"a", "glance"}
