"""Everything that the command says by itself is there in Chinese, with the same parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from footplate.cli.chinese import CHINESE, TABLES
from footplate.cli.chinese.click import CLICK
from footplate.cli.main import cli
from footplate.cli.topics import TOPICS
from footplate.cli.translated import paragraphs_of
from footplate.cli.verbs import VERBS
from footplate.domain.messages.template import Optional, Part, parse, slots

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path for pattern in ("*.py", "demo/*.py") for path in (ROOT / "src/footplate/cli").glob(pattern)
)
# Where a text is looked up that another place names.
LOOKING_UP = {"language.py", "translated.py", "table.py"}


@pytest.fixture(autouse=True)
def in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def constants(tree: ast.Module) -> dict[str, object]:
    """The constants of a module that are texts, or tuples of them, by name."""
    found: dict[str, object] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def phrases() -> Iterator[tuple[str, str, set[str] | None]]:
    """Each text that the code says: where, what, and its parameters, unless they come as a mapping."""
    for path in SOURCES:
        tree = ast.parse(path.read_text())
        known = constants(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "phrase":
                if path.name in LOOKING_UP:
                    continue
                given = {keyword.arg for keyword in node.keywords if keyword.arg}
                is_whole = all(keyword.arg for keyword in node.keywords)
                for text in texts_of(node.args[0], known):
                    yield f"{path.name}:{node.lineno}", text, given if is_whole else None


def texts_of(node: ast.expr, known: dict[str, object]) -> list[str]:
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.IfExp(body=one, orelse=other):
            return [*texts_of(one, known), *texts_of(other, known)]
        case ast.Name(id=name) if isinstance(known.get(name), str):
            return [str(known[name])]
        case ast.Attribute(attr="summary"):
            return [verb.summary for verb in VERBS]
        case ast.Attribute(attr="title"):
            return [topic.title for topic in TOPICS]
    return [f"no text: {ast.unparse(node)}"]


def heads() -> Iterator[str]:
    """The headings of all tables: the tuples of capital words that modules have as constants."""
    for path in SOURCES:
        if path.name in LOOKING_UP:
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
                words = [one.value for one in node.value.elts if isinstance(one, ast.Constant)]
                if all(re.fullmatch(r"[A-Z ]+", str(word)) for word in words):
                    yield from map(str, words)


def helps(command: click.Command, path: str = "footplate") -> Iterator[tuple[str, str]]:
    """The help of a command, of its options, and of what is below it."""
    for paragraph in paragraphs_of(command.help or ""):
        yield path, paragraph
    for param in command.params:
        if isinstance(param, click.Option) and param.help:
            yield f"{path} {param.opts[-1]}", param.help
    if isinstance(command, click.Group):
        with click.Context(command, info_name=path) as ctx:
            for name in command.list_commands(ctx):
                inner = command.get_command(ctx, name)
                assert inner is not None
                yield from helps(inner, f"{path} {name}")


# What shows a text to people, or asks them.
SHOWING = {"echo", "tell", "fail", "prompt", "confirm", "confirm_deletion", "print_items", "print_table"}
SHOWING |= {"ClickException", "UsageError", "BadParameter"}


def literal(node: ast.expr) -> str:
    """The letters of a text that stands where it is shown; a code span, such as a command, is none."""
    match node:
        case ast.Constant(value=str(text)):
            return re.sub(r"`[^`]*`|footplate( [a-z-]+)?", "", text)
        case ast.JoinedStr(values=parts):
            return " ".join(literal(part) for part in parts if isinstance(part, ast.Constant))
    return ""


def test_nothing_is_shown_that_is_not_looked_up() -> None:
    spoken = [
        f"{path.name}:{node.lineno}: {ast.unparse(one)}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and (getattr(node.func, "attr", None) or getattr(node.func, "id", "")) in SHOWING
        for one in node.args
        if re.search(r"[a-z]{3,}", literal(one))
    ]
    assert spoken == []


def test_a_text_means_the_same_wherever_it_stands() -> None:
    said = {(text, chinese) for table in TABLES for text, chinese in table.items()}
    assert [text for text, chinese in said if CHINESE[text] != chinese] == []


def test_every_text_of_the_code_is_there_in_chinese() -> None:
    assert [f"{where}: {text}" for where, text, _ in phrases() if text not in CHINESE] == []


def test_every_heading_of_a_table_is_there_in_chinese() -> None:
    found = set(heads())
    assert {"NAME", "STATE", "REASON"} <= found
    assert found - CHINESE.keys() == set()


def test_every_help_text_is_there_in_chinese() -> None:
    assert [f"{where}: {text}" for where, text in helps(cli) if text not in CHINESE] == []


def test_nothing_is_there_in_chinese_that_nobody_says() -> None:
    said = {text for _, text, _ in phrases()} | set(heads()) | {text for _, text in helps(cli)}
    assert CHINESE.keys() - said - CLICK.keys() == set()


def names_in(text: str) -> set[str]:
    return {slot.name for slot, _ in slots(parse(text))}


def optional_parts(parts: tuple[Part, ...]) -> Iterator[Optional]:
    for part in parts:
        if isinstance(part, Optional):
            yield part
            yield from optional_parts(part.parts)


def test_both_languages_use_the_parameters_that_the_code_gives() -> None:
    wrong = []
    for where, text, given in phrases():
        if given == set():
            # Said as it is: brackets and braces are nothing special in it.
            continue
        told = CHINESE.get(text, text)
        if names_in(told) != names_in(text) or (given is not None and given != names_in(text)):
            wrong.append(f"{where}: {text} / {told}")
        if any(not list(slots((part,))) for one in (text, told) for part in optional_parts(parse(one))):
            wrong.append(f"{where}: brackets without a parameter: {text} / {told}")
    assert wrong == []


def test_the_words_of_click_are_there_as_click_writes_them() -> None:
    folder = Path(click.__file__).parent
    written = {
        node.value
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert CLICK.keys() - written == set()
