"""Has click speak another language than English: help texts, its own words, lines broken by their width."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import click
from click import core, decorators, exceptions, formatting, parser, termui, types

from footplate.cli.cells import width_of
from footplate.cli.language import phrase

# Where click looks up its own words.
MODULES: tuple[ModuleType, ...] = (core, decorators, exceptions, formatting, parser, termui, types)
# Types of options are named when their module is loaded, once for all who read: `FILE` stays `FILE`.
NAMES_OF_TYPES = ("file", "directory", "path")
# A line may break between two of these, but not before a closing sign. Compiled only when used.
_WORDS = r"[\u2e80-\uffef][，。；：、）」”！？]*|[^\s\u2e80-\uffef]+[，。；：、）」”]*|\s+"


@contextmanager
def speaking() -> Iterator[None]:
    """Replace click's words while a command runs."""
    ours = {"_": _said, "ngettext": _counted, "wrap_text": wrap}
    kept = [(module, name, vars(module)[name]) for module in MODULES for name in ours if name in vars(module)]
    for module, name, _ in kept:
        setattr(module, name, ours[name])
    try:
        yield
    finally:
        for module, name, function in kept:
            setattr(module, name, function)


def _said(text: str) -> str:
    return text if text in NAMES_OF_TYPES else phrase(text)


def _counted(one: str, many: str, n: int) -> str:
    """Choose between two of click's words by a number, which Chinese does not."""
    return phrase(many if n != 1 else one)


def in_readers_language(command: click.Command) -> click.Command:
    """A command whose help, and that of its options and of the commands below it, is in that language."""
    told = copy.copy(command)
    # Made once for each command, in the language of whoever asked first.
    told._help_option = None  # noqa: SLF001
    if command.help:
        paragraphs = [phrase(one) for one in paragraphs_of(command.help)]
        told.help, told.short_help = "\n\n".join(paragraphs), paragraphs[0]
    told.params = [_translated(param) for param in command.params]
    if isinstance(told, click.Group):
        told.commands = {name: in_readers_language(inner) for name, inner in told.commands.items()}
    return told


def paragraphs_of(text: str) -> list[str]:
    """A help text as it is looked up: each of its paragraphs on one line."""
    return [" ".join(one.split()) for one in inspect.cleandoc(text).split("\n\n")]


def _translated(param: click.Parameter) -> click.Parameter:
    text = getattr(param, "help", None)
    if not text:
        return param
    told: Any = copy.copy(param)
    told.help = phrase(text)
    return told  # type: ignore[no-any-return]


def wrap(
    text: str,
    width: int = 78,
    initial_indent: str = "",
    subsequent_indent: str = "",
    preserve_paragraphs: bool = False,
) -> str:
    """Break lines as `click.formatting.wrap_text` does, where letters may be as wide as two."""
    paragraphs = text.split("\n\n") if preserve_paragraphs else [text]
    return "\n\n".join(
        "\n".join(_lines(" ".join(one.split()), width, initial_indent, subsequent_indent))
        for one in paragraphs
    )


def _lines(text: str, width: int, indent: str, next_indent: str) -> Iterator[str]:
    line = indent
    is_begun = False
    for word in re.findall(_WORDS, text):
        if is_begun and width_of(line + word.rstrip()) > width:
            yield line.rstrip()
            line, is_begun = next_indent, False
        if is_begun or not word.isspace():
            line, is_begun = line + word, True
    yield line.rstrip()
