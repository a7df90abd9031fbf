"""Reads a batch script: the options of its #SBATCH lines, and the commands below them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

MARK = "#SBATCH"
SHORT = {
    "A": "account",
    "a": "array",
    "b": "begin",
    "c": "cpus-per-task",
    "C": "constraint",
    "d": "dependency",
    "D": "chdir",
    "e": "error",
    "G": "gpus",
    "H": "hold",
    "i": "input",
    "J": "job-name",
    "k": "no-kill",
    "l": "label",
    "K": "kill-on-bad-exit",
    "L": "licenses",
    "m": "distribution",
    "M": "clusters",
    "n": "ntasks",
    "N": "nodes",
    "o": "output",
    "O": "overcommit",
    "p": "partition",
    "q": "qos",
    "Q": "quiet",
    "s": "oversubscribe",
    "S": "core-spec",
    "t": "time",
    "u": "unbuffered",
    "v": "verbose",
    "w": "nodelist",
    "W": "wait",
    "x": "exclude",
}
# Options of sbatch and srun that stand alone; all others have a value, if not by = then as the next word.
FLAGS = frozenset(
    {
        "contiguous",
        "exact",
        "exclusive",
        "get-user-env",
        "hold",
        "ignore-pbs",
        "kill-on-bad-exit",
        "label",
        "multi-prog",
        "no-kill",
        "no-requeue",
        "overcommit",
        "overlap",
        "oversubscribe",
        "parsable",
        "preserve-env",
        "pty",
        "quiet",
        "reboot",
        "requeue",
        "spread-job",
        "test-only",
        "unbuffered",
        "use-min-nodes",
        "verbose",
        "wait",
    }
)
# What separates the components of a heterogeneous job.
COMPONENTS = ("hetjob", "packjob")


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a #SBATCH line by its long name; `value` is empty for one that stands alone."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"--{self.name}={self.value}" if self.value else f"--{self.name}"


@dataclass(frozen=True, slots=True)
class Script:
    interpreter: tuple[str, ...]
    options: tuple[Option, ...]
    body: str
    # Lines with options that come too late: sbatch does not read them either.
    late: tuple[int, ...]
    # Lines with options whose quotes do not match.
    unreadable: tuple[int, ...]


def read_script(text: str) -> Script:
    """Read a batch script, whatever it holds."""
    lines = text.replace("\r\n", "\n").split("\n")
    interpreter = tuple(lines[0].removeprefix("#!").split()) if lines[0].startswith("#!") else ()
    begin = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
    options: list[Option] = []
    unreadable = []
    for number, line in enumerate(lines[:begin], 1):
        if is_option_line(line):
            try:
                # A # within a word is part of it, as in names of images.
                words = shlex.split(re.sub(r"\s#.*$", "", line.removeprefix(MARK)))
                options += options_in(words)
            except ValueError:
                unreadable.append(number)
    late = tuple(i for i, line in enumerate(lines[begin:], begin + 1) if is_option_line(line))
    body = "\n".join(line.rstrip() for line in lines[begin:] if not is_option_line(line))
    return Script(interpreter, tuple(options), body.strip("\n"), late, tuple(unreadable))


def is_option_line(line: str) -> bool:
    return bool(re.match(rf"{MARK}(\s|$)", line))


def options_in(words: list[str]) -> Iterator[Option]:
    """The options that a list of words holds; words that are none are passed over."""
    left = iter(words)
    for word in left:
        if word in COMPONENTS:
            yield Option(word, "")
        elif word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            yield Option(name, value if equals or name in FLAGS else next(left, ""))
        elif word.startswith("-") and word[1:]:
            name, value = SHORT.get(word[1], word[1]), word[2:].removeprefix("=")
            yield Option(name, value if value or name in FLAGS else next(left, ""))
