"""Searches the end of a failed task's log for the text or regular expressions of `on_failure` rules."""

from __future__ import annotations

import contextlib

from footplate.control.watch import LastWords, Search
from footplate.domain.job import Job
from footplate.engines.base import Observation
from footplate.store.logpattern import compile_expression, expression_in
from footplate.store.logs import Logs

LAST_BYTES = 64 * 1024


def searcher(logs: Logs, job: Job) -> Search:
    """Make the search for the words that the job's rules name."""
    wanted = [rule.log for rule in job.spec.on_failure if rule.log]

    def search(one: Observation) -> LastWords:
        log = logs.open(one.attempt_id, f"{one.role}-{one.index}")
        size = log.size
        if not wanted:
            return LastWords(log_bytes=size)
        # What came before is of earlier runs of the task.
        text = log.last_bytes(LAST_BYTES, since=job.task(one.role, one.index).log_start)
        return LastWords(frozenset(words for words in wanted if _holds(text, words)), size)

    return search


def _holds(text: bytes, words: str) -> bool:
    expression = expression_in(words)
    if expression is not None:
        # Words of older versions may be no expression: those are looked for as they are.
        with contextlib.suppress(ValueError):
            return compile_expression(expression)(text.decode(errors="replace"))
    return words.encode() in text
