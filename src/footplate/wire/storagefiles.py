"""Files of storages over REST."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from footplate.domain.storage import Upload
from footplate.storages.base import Entry, EntryKind
from footplate.wire.body import Body, Text
from footplate.wire.convert import instant

FilePath = Annotated[str, Field(max_length=4096)]
IfExists = Literal["replace", "refuse", "subfolder"]
Digest = Annotated[str, Field(pattern=r"^([0-9a-fA-F]{64})?$")]


class EntryBody(Body):
    name: str
    path: str
    kind: EntryKind
    size_bytes: int
    modified_at: str | None
    is_link: bool
    is_executable: bool


class Entries(Body):
    """A page of a folder, by name."""

    items: list[EntryBody]
    next_page_token: str | None
    n_unnamed: int = Field(description="Entries of this page left out, as no path can have their names.")


class FolderUse(Body):
    n_files: int
    n_folders: int
    size_bytes: int


class EventCurve(Body):
    """One curve of a TensorBoard event file; long ones are thinned out."""

    tag: str
    steps: list[int]
    values: list[float | None] = Field(description="One for each step; null where it is no number.")


class PreviewBody(Body):
    """The beginning of a file: `text`, the `rows` of a table, `curves`, or just which kind it is."""

    entry: EntryBody
    kind: Literal["text", "table", "image", "curves", "binary"]
    media_type: str
    text: str | None
    rows: list[list[str]] | None
    curves: list[EventCurve] | None
    is_cut: bool = Field(description="Whether there is more of it.")


class NewFolder(Body):
    path: FilePath
    is_new: bool = Field(False, description="Refuse when it is there already.")
    numbered: bool = Field(False, description="Make a new folder in it instead: 2, or the next free number.")


class FilePlace(Body):
    storage: str = Field(max_length=63)
    path: FilePath


class Relocation(Body):
    """From a path of this storage to another path, here or on another storage."""

    source: FilePath
    target: FilePlace
    replaces: bool = Field(False, description="Whether a file that is there is replaced.")


class NewUpload(Body):
    path: FilePath
    size_bytes: int = Field(ge=0, le=2**50)
    if_exists: IfExists = "replace"
    sha256: Digest = Field("", description="Digest of the whole file; checked before it gets its name.")
    is_executable: bool = False
    fingerprint: Text = Field(
        "", max_length=128, description="What the client knows the file by, to go on with the upload later."
    )


class UploadBody(Body):
    id: str
    path: str
    size_bytes: int
    done_bytes: int = Field(description="So many have come; the next piece begins here.")
    if_exists: IfExists
    fingerprint: str
    created_at: str


class Uploads(Body):
    items: list[UploadBody]


class Unpacked(Body):
    n_files: int
    size_bytes: int


def entry_view(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "path": entry.path,
        "kind": entry.kind.value,
        "size_bytes": entry.size_bytes,
        "modified_at": instant(entry.modified_at),
        "is_link": entry.is_link,
        "is_executable": entry.is_executable,
    }


def upload_view(upload: Upload) -> dict[str, Any]:
    return {
        "id": upload.id,
        "path": upload.path,
        "size_bytes": upload.size_bytes,
        "done_bytes": upload.done_bytes,
        "if_exists": upload.if_exists,
        "fingerprint": upload.fingerprint,
        "created_at": instant(upload.created_at),
    }
