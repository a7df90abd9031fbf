"""Which viewers run, and in which engine: a server that was killed leaves some to be ended."""

from __future__ import annotations

from pathlib import Path

from footplate.domain.ids import is_job_id
from footplate.home.layout import viewers_folder


class ViewerMarks:
    """A file for each, named by the viewer, with the name of its engine; of earlier versions it is empty."""

    def __init__(self, home: Path) -> None:
        self._folder = viewers_folder(home)

    def put(self, viewer_id: str, engine: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._folder / viewer_id).write_text(engine)

    def remove(self, viewer_id: str) -> None:
        (self._folder / viewer_id).unlink(missing_ok=True)

    def all(self) -> dict[str, str]:
        """The engines of all viewers that were begun and not ended, by the viewers' names."""
        return {mark.name: mark.read_text() for mark in self._folder.glob("*") if is_job_id(mark.name)}
