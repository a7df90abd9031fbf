"""Parts of a log: from where to show it, and its bytes as text."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from footplate.domain.errors import InvalidInput
from footplate.domain.job import Job
from footplate.store.logfiles import LogFile, Piece


@dataclass(frozen=True, slots=True)
class Since:
    """From where to show a log: an offset, the last lines, or a moment; all of it when nothing is said."""

    offset: int | None = None
    tail: int | None = None
    at: float | None = None

    def __post_init__(self) -> None:
        if sum(value is not None for value in (self.offset, self.tail, self.at)) > 1:
            raise InvalidInput("one_beginning", "tail")


def begin(job: Job, name: str, attempt: int | None, log: LogFile, since: Since) -> int:
    """The offset at which to begin in the log of one task in one attempt."""
    if since.offset is not None:
        return since.offset
    if since.tail is not None:
        return log.size if since.tail == 0 else log.offset_of_tail(since.tail)
    if since.at is not None:
        task = next(task for task in job.tasks if task.name == name)
        is_current = attempt is None or attempt == job.attempt
        times = (task.started_at, task.finished_at) if is_current else (None, None)
        return log.offset_since(since.at, *times)
    return 0


def text_of(piece: Piece) -> tuple[str, int]:
    """Decode a piece; a character that is cut off at its end is left to the next, where one can follow."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    text = decoder.decode(piece.data)
    n_cut = len(decoder.getstate()[0])
    if n_cut and text:
        return text, piece.next_offset - n_cut
    return text + decoder.decode(b"", final=True), piece.next_offset
