"""The pages that people read: links lead somewhere, and commands that are shown exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from footplate.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^```(?:console|bash|sh)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def headings(page: Path) -> set[str]:
    """The anchors of a page, as the usual renderers make them from its headings."""
    text = _FENCE.sub("", page.read_text("utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in _LINK.findall(_FENCE.sub("", page.read_text("utf-8"))):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        found = (page.parent / path).resolve() if path else page
        if not found.exists() or (anchor and anchor not in headings(found)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize(("page", "n"), [("docs/explanation/how-it-works.md", 40), ("CONTRIBUTING.md", 20)])
def test_modules_that_are_named_are_there(page: str, n: int) -> None:
    modules = [
        str(path)
        for folder in ("src/footplate", "tests", "tools")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".c", ".sh")
    ]
    named = set(re.findall(r"`([\w/]+\.(?:py|c|sh))`", (ROOT / page).read_text("utf-8")))
    assert len(named) >= n
    assert [name for name in sorted(named) if not any(one.endswith(f"/{name}") for one in modules)] == []


def shown_commands(page: Path) -> Iterator[list[str]]:
    """The words behind `footplate` on every line of a code block that begins with it."""
    for block in _CONSOLE.findall(page.read_text("utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            match = re.match(r"(?:\$ )?(?:\w+=\S* )*(?:\.venv/bin/)?footplate (.*)", line)
            if match:
                words = shlex.split(match[1].partition(" | ")[0].partition(" > ")[0], comments=True)
                yield words


def find_command(words: list[str]) -> tuple[click.Command | None, list[str]]:
    """The command that words name, None when there is none, and the words that are left."""
    command: click.Command | None = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        command, words = command.get_command(click.Context(command), words[0]), words[1:]
    return command, words


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_shown_commands_exist_with_their_options(page: Path) -> None:
    unknown = []
    for words in shown_commands(page):
        command, rest = find_command(words[: words.index("--")] if "--" in words else words)
        options = {word.partition("=")[0] for word in rest if re.match(r"--[a-z]|-[a-zA-Z]$", word)}
        if command is None or not options <= known_options(command):
            unknown.append(" ".join(words))
    assert unknown == []


def known_options(command: click.Command) -> set[str]:
    return {"-h", "--help"} | {
        name for param in command.params for name in (*param.opts, *param.secondary_opts)
    }
