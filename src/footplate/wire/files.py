"""A job's files over REST."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from footplate.wire.body import Body

Part = Literal["output", "checkpoints", "code", "work"]


class JobFiles(Body):
    items: list[Part] = Field(description="Which of its files there are, to be downloaded.")


class FileEntry(Body):
    path: str = Field(description="Below the folder that was asked for.")
    kind: Literal["file", "folder", "link", "other"]
    size_bytes: int
    modified_at: str


class FileList(Body):
    items: list[FileEntry]
    is_cut: bool = Field(description="Whether there are more than are listed.")
