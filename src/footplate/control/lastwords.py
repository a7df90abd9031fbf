"""What the end of a failed task's log says, for rules that ask for certain words or patterns."""

from __future__ import annotations

import contextlib
from pathlib import Path

from footplate.control.watch import Search
from footplate.domain.job import Job
from footplate.domain.layout import attempt_folder, log_file, task_folder
from footplate.engines.base import Observation
from footplate.logpattern import compile_expression, expression_in
from footplate.taskfiles import unfollowed

LAST_BYTES = 64 * 1024


def searcher(home: Path, job: Job) -> Search:
    """Make the search for the words that the job's rules name."""
    wanted = [rule.log for rule in job.spec.on_failure if rule.log]

    def search(one: Observation) -> frozenset[str]:
        if not wanted:
            return frozenset()
        folder = task_folder(attempt_folder(home, job.id, job.attempt), one.role, one.index)
        text = _end_of(log_file(folder))
        return frozenset(words for words in wanted if _holds(text, words))

    return search


def _holds(text: bytes, words: str) -> bool:
    expression = expression_in(words)
    if expression is not None:
        # Words of older versions may be no expression: those are looked for as they are.
        with contextlib.suppress(ValueError):
            return compile_expression(expression)(text.decode(errors="replace"))
    return words.encode() in text


def _end_of(path: Path) -> bytes:
    try:
        with open(path, "rb", opener=unfollowed) as file:  # only this one takes an opener
            size = file.seek(0, 2)
            file.seek(max(0, size - LAST_BYTES))
            return file.read(LAST_BYTES)
    except OSError:
        return b""
