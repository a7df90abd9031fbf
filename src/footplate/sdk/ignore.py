"""Which files of a folder stay behind, by the rules of `.gitignore` files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

IGNORE_FILES = (".gitignore", ".footplateignore")
ALWAYS_IGNORED = frozenset({".git", ".venv", "__pycache__", "node_modules"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file; paths are relative to the folder that the file lies in."""

    pattern: re.Pattern[str]
    is_negated: bool
    is_for_folders: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one folder; `base` is its path below the root, with a slash at the end unless empty."""

    base: str
    rules: tuple[Rule, ...]


def read_rules(folder: Path, base: str) -> Rules | None:
    """Read the ignore files of a folder; those of ours come last and so have the last word."""
    lines: list[str] = []
    for name in IGNORE_FILES:
        path = folder / name
        if path.is_file():
            lines += path.read_text("utf-8", "replace").splitlines()
    rules = tuple(rule for rule in map(parse, lines) if rule is not None)
    return Rules(base, rules) if rules else None


def parse(line: str) -> Rule | None:
    """Read one line; None for blank lines and comments."""
    text = line.rstrip()
    if not text or text.startswith("#"):
        return None
    is_negated, text = text.startswith("!"), text.removeprefix("!").removeprefix("\\")
    is_for_folders, text = text.endswith("/"), text.rstrip("/")
    if not text:
        return None
    anywhere = "" if "/" in text else "(?:.*/)?"
    return Rule(re.compile(anywhere + _translate(text.lstrip("/"))), is_negated, is_for_folders)


def is_ignored(path: str, is_folder: bool, scopes: Sequence[Rules]) -> bool:
    """Tell whether a path stays behind; the last rule that matches decides."""
    if path.rsplit("/", 1)[-1] in ALWAYS_IGNORED:
        return True
    for rule, inner in _newest_first(path, scopes):
        if (is_folder or not rule.is_for_folders) and rule.pattern.fullmatch(inner):
            return not rule.is_negated
    return False


def _newest_first(path: str, scopes: Sequence[Rules]) -> Iterable[tuple[Rule, str]]:
    for scope in reversed(scopes):
        inner = path[len(scope.base) :]
        for rule in reversed(scope.rules):
            yield rule, inner


_TOKEN = re.compile(r"\*\*/|/\*\*|\*\*|\*|\?|\[!?\]?[^\]/]*\]|.", re.DOTALL)


def _translate(glob: str) -> str:
    """Turn a pattern into a regular expression."""

    def one(match: re.Match[str]) -> str:
        token = match[0]
        simple = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(token)
        if simple is not None:
            return simple
        if token[0] == "[" and len(token) > 2:
            inside = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            return f"[^{inside[1:]}]" if inside[0] == "!" else f"[{inside}]"
        return re.escape(token)

    return _TOKEN.sub(one, glob)
