"""What a submit sends: a job document with what the caller overrides, and the code beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from footplate.domain.errors import InvalidInput
from footplate.domain.foreign import format_of, is_batch_script
from footplate.domain.override import override
from footplate.sdk.packing import Selection, select
from footplate.sdk.zones import in_my_zone
from footplate.wire import documents


@dataclass(frozen=True, slots=True)
class Foreign:
    """The text of a job file of another system, and the folder of this machine that its commands mean."""

    text: str
    folder: Path | None = None


Source = str | os.PathLike[str] | Mapping[str, Any] | Foreign


@dataclass(frozen=True, slots=True)
class Submission:
    """A job document that is complete but for the digest of its code."""

    document: Mapping[str, Any]
    code: Selection | None = None
    # Whether the packages are those that the code was found to ask for.
    uses_found_packages: bool = False
    # The text of a file of another system, which the server translates; `document` then has what is replaced.
    original: str = ""

    @property
    def body(self) -> dict[str, Any]:
        """What is sent to the server."""
        document = dict(self.document)
        return {"original": self.original, "overrides": document} if self.original else document


def prepare(source: Source, code_dir: str | os.PathLike[str] | None = None, **overrides: Any) -> Submission:
    """Read a job file (or take a document), apply overrides, choose the code to send.

    `parameters`, `env` and `secrets` are merged into the document's own, `data` is added to it by path;
    every other override replaces a field.
    A time without a zone is one of this machine's clock.
    A `code` that is a text names a folder, relative to the job file; so does a `path` without a storage.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    if isinstance(source, Foreign):
        return _prepare_foreign(source, code_dir, given)
    document, folder = _read(source)
    if isinstance(document, Foreign):
        return _prepare_foreign(document, code_dir, given)
    document = in_my_zone(override(document, given))
    if code_dir is not None:
        return Submission(document, select(Path(code_dir).expanduser()))
    local = _local_code(document.get("code"))
    if local is None:
        return Submission(document)
    return Submission(document, select(folder / Path(local).expanduser()))


def _prepare_foreign(
    foreign: Foreign, code_dir: str | os.PathLike[str] | None, given: Mapping[str, Any]
) -> Submission:
    """Send the folder of a batch script along; others name no code of this machine."""
    folder = code_dir if code_dir is not None else foreign.folder
    code = None if folder is None else select(Path(folder).expanduser())
    return Submission(in_my_zone(given), code, original=foreign.text)


def foreign_in(text: bytes, source: str, folder: Path | None) -> Foreign | None:
    """The job file of another system that a text is; None for what may be ours."""
    decoded = documents.decode(text, source)
    if is_batch_script(decoded):
        return Foreign(decoded, folder)
    try:
        document = documents.load_plain(decoded, source)
    except InvalidInput:
        # What it is instead, whoever reads it as ours will tell.
        return None
    return Foreign(decoded) if format_of(document) else None


def fill_placeholders(text: bytes, given: str, source: str) -> dict[str, Any] | Foreign:
    """Fill `[#a]` in a job file as `a=1,b=2` says; raise `ValueError` for a part that is no such pair."""
    filled = documents.decode(text, source)
    for part in filter(None, given.split(",")):
        name, sign, value = part.partition("=")
        if not sign or not name:
            raise ValueError(part)
        filled = filled.replace(f"[#{name}]", value)
    if (foreign := foreign_in(filled.encode(), source, None)) is not None:
        return foreign
    return dict(documents.load(filled, source))


def _local_code(code: Any) -> str | None:
    """Name the folder of this machine that a job file wants sent along."""
    if isinstance(code, str):
        return code
    if not isinstance(code, Mapping) or code.get("storage") or code.get("upload"):
        return None
    path = code.get("path")
    return path if isinstance(path, str) and path else None


def _read(source: str | os.PathLike[str] | Mapping[str, Any]) -> tuple[dict[str, Any] | Foreign, Path]:
    if isinstance(source, Mapping):
        return dict(source), Path()
    path = Path(source).expanduser()
    try:
        with path.open("rb") as file:
            text = file.read(documents.MAX_BYTES + 1)
    except OSError as error:
        raise InvalidInput("job_file_unreadable", file=str(path), error=error.strerror) from None
    if (foreign := foreign_in(text, str(path), path.parent)) is not None:
        return foreign, path.parent
    document = documents.load(text, str(path))
    if not isinstance(document, dict):
        raise InvalidInput("job_file_not_mapping", file=str(path))
    return document, path.parent
