"""Runs what pages show: the `$ …` lines of their blocks, in order, and compares what comes out.

A comment right before a block says what a reader knows from the words around it:

    <!-- file: train.py -->       the block is the content of that file
    <!-- settings -->             the block belongs into settings.toml; the server is started again with it
    <!-- settings: of this page -->  the same, until another page begins
    <!-- needs: torch -->         skipped, with the reason, where that is missing (see `LACKS`)
    <!-- not run: why -->         skipped, with the reason
    <!-- typed: words -->         what is typed when the commands ask

Commands of one page share a shell, in a folder and with a HOME of its own; all pages share one server, whose
address stands in for 127.0.0.1:8750, and `/srv` is a folder of the page. Text compares as it is, except that
`…` stands for anything, on a line of its own for any lines; and that ids, times, ports, fractions and the
widths of columns are different each time. An id that a page shows can be named in later commands. Of a
command for which no output is shown only the end is looked at; hints at other commands may be left out. One
that follows a job prints as things happen: there the order is not compared, and steps that pass by unseen or
are left out are no fault.
"""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_COMMENT = re.compile(r"<!-- (file|settings|needs|not run|typed)(?:: (.*?))? -->$")
_FENCE = re.compile(r"^```(\w*)$")
_FOLLOWS = re.compile(r"footplate (run\b|.*(--follow|\s-f\b|--watch))")
_LOOKS = re.compile(
    r"footplate ((list|show|logs|events|usage)\b|(nodes|queues|secrets|storages|summary|tokens|users)$)"
)
_STARTS_SERVER = re.compile(r"^(make|footplate) up$")
_HINT = re.compile(r" +(follow|details|stop|log|files|download|run again|delete) +footplate ")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_END = "\x01"
LONGEST_S = 90
# Told only when a look falls into it.
_PASSING = ("· QUEUED", "· STARTING", "· RUNNING", "· code is in place")
_ID = re.compile(r"\b2[a-z0-9]{11}\b")
# What is another each time, and what it may be instead.
_VARYING = [
    (r"…", r".*?"),
    (_ID.pattern, _ID.pattern),
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+Z)?", r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+Z)?"),
    (r"127\.0\.0\.1:\d+", r"127\.0\.0\.1:\d+"),
    (r"\bmain:\d+", r"main:\d+"),
    (r"\d+\.\d+ ?(?:[KMG]?B|m?s)?\b", r"(?:\d+[dhm])*\d+(?:\.\d+)? ?(?:[KMG]?B|m?s)?"),
    (r"\b\d+s\b", r"(?:\d+[dhm])*(?:[\d.]+m?s)?"),
    (r"\bpid \d+", r"pid \d+"),
    (r" {2,}", r"\s+"),
]
_TOKEN = re.compile("|".join(f"({pattern})" for pattern, _ in _VARYING))


@dataclass(frozen=True)
class Block:
    """One block of a page that has something to do."""

    page: Path
    line: int
    text: str
    marks: dict[str, str] = field(default_factory=dict)

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """Each command with the lines that it prints."""
        command, printed = "", list[str]()
        for line in self.text.splitlines():
            if command.endswith("\\") or line.startswith("> "):
                command = f"{command}\n{line.removeprefix('> ')}"
            elif line.startswith("$ "):
                if command:
                    yield command, printed
                command, printed = line.removeprefix("$ "), []
            else:
                printed.append(line)
        if command:
            yield command, printed


def blocks(page: Path) -> Iterator[Block]:
    """What a page asks to be done, in order."""
    marks: dict[str, str] = {}
    lines = enumerate(page.read_text("utf-8").splitlines(), 1)
    for number, line in lines:
        if mark := _COMMENT.match(line.strip()):
            marks[mark[1]] = mark[2] or ""
        elif _FENCE.match(line):
            text = _inside(lines)
            if marks or text.startswith("$ "):
                yield Block(page, number, text, marks)
            marks = {}
        elif line.strip():
            marks = {}


def _inside(lines: Iterator[tuple[int, str]]) -> str:
    found = []
    for _, line in lines:
        if line == "```":
            break
        found.append(f"{line}\n")
    return "".join(found)


class Shell:
    """One bash that keeps its variables and its folder between commands."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder, self._environment = folder, environment
        self.ids: dict[str, str] = {}
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            ["bash", "--norc"],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def run(self, command: str) -> tuple[int, str]:
        """Run a command; return its exit code and all that it printed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        script = f"{{ {command}\n}} </dev/null\nprintf '{_END}%d{_END}' $?\n"
        self._process.stdin.write(script.encode())
        self._process.stdin.flush()
        seen, deadline = b"", time.monotonic() + LONGEST_S
        while seen.count(_END.encode()) < 2:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            read = os.read(self._process.stdout.fileno(), 65536) if ready else b""
            if not read:
                self.close()
                self._start()
                what = "the shell ended" if ready else f"took more than {LONGEST_S} s"
                raise AssertionError(f"{what}: {command}\n{seen.decode(errors='replace')}")
            seen += read
        printed, code, _ = seen.decode().split(_END)
        return int(code), printed

    def run_typing(self, command: str, words: str) -> tuple[int, str]:
        """Run a command on a terminal, and type what it asks for."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self._folder,
            env=self._environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        seen = ""
        try:
            while read := os.read(ours, 65536):
                seen += read.decode(errors="replace")
                if seen.rstrip(" ").endswith(":"):
                    os.write(ours, f"{words}\n".encode())
        except OSError:  # the other side has closed the terminal
            pass
        os.close(ours)
        return process.wait(timeout=LONGEST_S), seen

    def close(self) -> None:
        """End it with all that it has started."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def starts_server(command: str, printed: Sequence[str]) -> bool:
    return bool(_STARTS_SERVER.match(command)) and not any(line.startswith("error:") for line in printed)


def only_looks(command: str) -> bool:
    """Tell whether a command can be repeated: people type slowly enough to find what a page shows."""
    return bool(_LOOKS.match(command)) and not _FOLLOWS.search(command)


def pattern_of(line: str) -> re.Pattern[str]:
    """What a line of a page may look like when it is printed."""
    parts, done = [], 0
    for found in _TOKEN.finditer(line.rstrip()):
        parts.append(re.escape(line[done : found.start()]))
        assert found.lastindex is not None
        parts.append(_VARYING[found.lastindex - 1][1])
        done = found.end()
    parts.append(re.escape(line.rstrip()[done:]))
    return re.compile("".join(parts))


def differences(command: str, shown: Sequence[str], printed: str) -> list[str]:
    """What a page shows and did not come, and what came and it does not show; nothing when it is right."""
    lines = [line.rstrip() for line in _ANSI.sub("", printed).replace("\r", "").splitlines()]
    lines = [line for line in lines if line]
    shown = [line for line in shown if line.strip()]
    if not shown:
        return []
    if not any(map(_HINT.match, shown)):
        lines = [line for line in lines if not _HINT.match(line)]
    if _FOLLOWS.search(command):
        return _unordered(shown, lines)
    return [] if _fits(shown, lines) else [*(f"- {line}" for line in shown), *(f"+ {line}" for line in lines)]


def ids_of(shown: Sequence[str], printed: str) -> dict[str, str]:
    """The ids that came in place of those on the page."""
    found: dict[str, str] = {}
    for line in shown:
        pattern = pattern_of(line)
        real = next((one for one in printed.splitlines() if pattern.fullmatch(one.rstrip())), "")
        found.update(zip(_ID.findall(line), _ID.findall(real), strict=False))
    return found


def with_ids(command: str, ids: dict[str, str]) -> str:
    return _ID.sub(lambda match: ids.get(match[0], match[0]), command)


def _is_gap(line: str) -> bool:
    return line.strip() == "…"


def _unordered(shown: Sequence[str], lines: list[str]) -> list[str]:
    missing, left = [], list(lines)
    for line in shown:
        if _is_gap(line):
            continue
        pattern = pattern_of(line)
        found = next((one for one in left if pattern.fullmatch(one)), None)
        if found is not None:
            left.remove(found)
        elif not line.startswith(_PASSING):
            missing.append(f"- {line}")
    has_gaps = any(map(_is_gap, shown))
    more = (
        []
        if has_gaps
        else [f"+ {line}" for line in left if not line.startswith(("· ", "Submitted ", "Sending "))]
    )
    return [*missing, *([f"  {line}" for line in lines] if missing else []), *more]


def _fits(shown: Sequence[str], lines: Sequence[str]) -> bool:
    if not shown:
        return not lines
    if _is_gap(shown[0]):
        return any(_fits(shown[1:], lines[skipped:]) for skipped in range(len(lines) + 1))
    return bool(lines) and bool(pattern_of(shown[0]).fullmatch(lines[0])) and _fits(shown[1:], lines[1:])
