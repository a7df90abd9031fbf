"""Which files of a folder are not uploaded, by git's rules for `.gitignore` files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

IGNORE_FILES = (".gitignore", ".footplateignore")
ALWAYS_IGNORED = frozenset({".git", ".venv", "__pycache__", "node_modules"})
# The library reads these names letter by letter.
_NAMED_SETS = {
    "[:alnum:]": "a-zA-Z0-9",
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:lower:]": "a-z",
    "[:space:]": " \t",
    "[:upper:]": "A-Z",
    "[:xdigit:]": "0-9a-fA-F",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file; paths are relative to the folder that the file lies in."""

    pattern: GitIgnoreSpecPattern
    is_for_folders: bool

    @property
    def is_negated(self) -> bool:
        return not self.pattern.include

    def matches(self, path: str, is_folder: bool) -> bool:
        """Tell whether the rule names this very path. One that names a folder above it does not count."""
        if self.is_for_folders and not is_folder:
            return False
        found = self.pattern.match_file(path)
        # The only group of these patterns is the slash behind a folder above.
        return found is not None and found.match.lastgroup is None


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
            lines += path.read_text("utf-8-sig", "replace").splitlines()
    rules = tuple(rule for rule in map(parse, lines) if rule is not None)
    return Rules(base, rules) if rules else None


def parse(line: str) -> Rule | None:
    """Read one line; None for blank lines, comments and patterns that match nothing."""
    # Here, since most submits meet no ignore file and should not wait for the library.
    from pathspec.patterns.gitignore import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    text = line if line.endswith("\\ ") else line.rstrip()
    for name, characters in _NAMED_SETS.items():
        text = text.replace(name, characters)
    try:
        # Without its last slash a pattern can be asked about a folder itself, not only about what is in it.
        pattern = GitIgnoreSpecPattern(text.removesuffix("/"))
    except GitIgnorePatternError:
        return None
    return None if pattern.include is None else Rule(pattern, text.endswith("/"))


def is_ignored(path: str, is_folder: bool, scopes: Sequence[Rules]) -> bool:
    """Tell whether a path stays behind; the last rule that matches decides."""
    if path.rsplit("/", 1)[-1] in ALWAYS_IGNORED:
        return True
    for rule, inner in _newest_first(path, scopes):
        if rule.matches(inner, is_folder):
            return not rule.is_negated
    return False


def is_asked(path: str, scopes: Sequence[Rules]) -> bool:
    """Tell whether the last rule that names a file says that it is to be sent."""
    return next(
        (rule.is_negated for rule, inner in _newest_first(path, scopes) if rule.matches(inner, False)), False
    )


def _newest_first(path: str, scopes: Sequence[Rules]) -> Iterator[tuple[Rule, str]]:
    for scope in reversed(scopes):
        inner = path[len(scope.base) :]
        for rule in reversed(scope.rules):
            yield rule, inner
