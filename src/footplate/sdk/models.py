"""Calls about models: register, list, describe, name, compare, fetch, delete."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from footplate.domain.errors import Conflict, InvalidInput, NotFound
from footplate.domain.model import LATEST, read_reference
from footplate.sdk.connection import Connection
from footplate.sdk.uploading import WHOLE_BYTES, Progress, Uploader

CHUNK_BYTES = 1024**2
# Where pieces of uploads lie until they are whole.
SPOOL = "home"

Data = dict[str, Any]
Told = Callable[[str, int], None]


def _nobody(_name: str, _n_bytes: int) -> None:
    return


class ModelCalls:
    """The part of the client that knows models; a model is named `NAME`, `NAME:3` or `NAME@production`."""

    _connection: Connection

    def models(
        self, *, search: str = "", owner: str = "", tag: str = "", job: str = "", trash: bool = False
    ) -> Iterator[Data]:
        """Yield models that I may see, the last that changed first."""
        asked: Data = {"search": search, "owner": owner, "tag": tag, "job": job}
        asked = {name: value for name, value in asked.items() if value}
        if trash:
            asked["trash"] = "true"
        token: str | None = None
        while True:
            page = self._connection.fetch("/models", **asked, limit=200, page_token=token)
            yield from page["items"]
            token = page["next_page_token"]
            if not token:
                return

    def model(self, name: str, *, trash: bool = False) -> Data:
        """Show a model with its versions, by name or ID; `trash` adds versions in the trash."""
        found: Data = self._connection.fetch(_path(name), **({"trash": "true"} if trash else {}))
        return found

    def model_version(self, reference: str) -> Data:
        """Show one version with its files; without a version, the highest."""
        found: Data = self._connection.fetch(_version(reference))
        return found

    def register_model(
        self,
        name: str,
        path: str | os.PathLike[str] = "",
        *,
        job: str = "",
        place: str = "output",
        storage: str = "",
        told: Told = _nobody,
        **fields: Any,
    ) -> Data:
        """Register a version of a model, and return it.

        With `job`, `path` is below one of the job's folders (`place`: output, checkpoints, work); with
        `storage`, it is on that storage; else it is a local file or folder, which is sent. Fields:
        framework, format, environment, image, description, metrics, tags, aliases, shared.
        """
        inner = os.fspath(path)
        body: Data = {"name": name, **{key: value for key, value in fields.items() if value is not None}}
        if job:
            body["job"] = {"job": job, "place": place, "path": inner}
        elif storage:
            body["storage"] = {"storage": storage, "path": inner}
        else:
            body["files"] = [self._send_content(one, file, told) for one, file in _local_files(Path(inner))]
        answer: Data = self._connection.send("POST", "/models", body, timeout=None)
        return answer

    def _send_content(self, path: str, file: Path, told: Told) -> Data:
        with file.open("rb") as content:
            sha256 = hashlib.file_digest(content, "sha256").hexdigest()
        at = f"/model-contents/{sha256}"
        if not self._is_there(at):
            size = file.stat().st_size
            if size > WHOLE_BYTES and self._can_hold():
                self._send_pieces(at, sha256, path, file, told)
            else:
                with file.open("rb") as content:
                    self._connection.request("PUT", at, content=_chunks(content, path, told), timeout=None)
        return {"path": path, "sha256": sha256}

    def _can_hold(self) -> bool:
        """Whether I have a place for pieces of an upload."""
        storages = self._connection.fetch("/storages")["items"]
        return any(one["name"] == SPOOL and not one["read_only"] for one in storages)

    def _send_pieces(self, at: str, sha256: str, path: str, file: Path, told: Told) -> None:
        """Send a large file in pieces; when that is cut, the next try of the same file goes on."""
        done = 0

        def tell(progress: Progress) -> None:
            nonlocal done
            if progress.done_bytes != done:
                told(path, progress.done_bytes - done)
                done = progress.done_bytes

        sender = Uploader(self._connection, SPOOL, Progress(tell))
        with file.open("rb") as content:
            size = file.stat().st_size
            name = f"models/{sha256[:16]}"
            upload = sender.send_all(content, size, name, "replace", False, f"model-{sha256}")
        body = {"storage": SPOOL, "upload": upload["id"]}
        self._connection.send("POST", at, body, timeout=None)

    def _is_there(self, at: str) -> bool:
        try:
            self._connection.request("HEAD", at)
        except NotFound:
            return False
        return True

    def edit_model(self, name: str, **fields: Any) -> Data:
        """Change name, description, tags or shared of a model."""
        answer: Data = self._connection.send("PATCH", _path(name), fields, is_repeatable=True)
        return answer

    def edit_model_version(self, reference: str, **fields: Any) -> Data:
        """Change what is said of a version: description, framework, format, environment, metrics, tags."""
        answer: Data = self._connection.send("PATCH", _version(reference), fields, is_repeatable=True)
        return answer

    def set_model_alias(self, name: str, alias: str, version: str | int = LATEST) -> Data:
        """Let an alias, such as `production`, name a version."""
        at = f"{_path(name)}/aliases/{quote(alias, safe='')}"
        answer: Data = self._connection.send("PUT", at, {"version": str(version)}, is_repeatable=True)
        return answer

    def remove_model_alias(self, name: str, alias: str) -> None:
        self._connection.request("DELETE", f"{_path(name)}/aliases/{quote(alias, safe='')}")

    def compare_models(self, name: str, first: str | int, second: str | int = LATEST) -> Data:
        """Say what two versions of a model differ in."""
        found: Data = self._connection.fetch(f"{_path(name)}/compare", first=str(first), second=str(second))
        return found

    def delete_model(self, reference: str, *, for_good: bool = False) -> None:
        """Put a model, or with `NAME:3` one version of it, into the trash."""
        params = {"for_good": "true"} if for_good else {}
        self._connection.request("DELETE", _either(reference), params=params)

    def restore_model(self, reference: str) -> Data:
        """Take a model out of the trash, by its ID, or with `NAME:3` one version of it."""
        answer: Data = self._connection.send("POST", f"{_either(reference)}/restore")
        return answer

    def download_model(
        self, reference: str, target: str | os.PathLike[str] | None = None, *, told: Told = _nobody
    ) -> Path:
        """Fetch the files of a version; each is checked, and gets its name when all of it has come.

        A version of one file becomes that file, one of several a folder. `target` is the file or folder to
        write; a folder that is there gets the file in it.
        """
        version = self.model_version(reference)
        at = f"{_path(version['model_id'])}/versions/{version['number']}"
        files = version["files"]
        if len(files) == 1:
            name = files[0]["path"].rpartition("/")[2]
            place = Path(name) if target is None else Path(target)
            place = place / name if place.is_dir() else place
            self._fetch_file(at, files[0], place, told)
            return place
        folder = Path(f"{version['model']}-v{version['number']}") if target is None else Path(target)
        for file in files:
            self._fetch_file(at, file, _beneath(folder, file["path"]), told)
        return folder

    def _fetch_file(self, at: str, file: Data, place: Path, told: Told) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        half = place.with_name(f".{place.name}.part-{os.getpid()}")
        hasher = hashlib.sha256()
        try:
            with (
                half.open("wb") as out,
                self._connection.opened(f"{at}/content", {}, path=file["path"]) as response,
            ):
                for chunk in response.iter_bytes(CHUNK_BYTES):
                    hasher.update(chunk)
                    out.write(chunk)
                    told(file["path"], len(chunk))
            if hasher.hexdigest() != file["sha256"]:
                raise Conflict("wrong_digest")
            half.replace(place)
        finally:
            half.unlink(missing_ok=True)

    def inference_environments(self) -> list[Data]:
        """List the environments that models can be served in."""
        items: list[Data] = self._connection.fetch("/inference-environments")["items"]
        return items

    def set_inference_environment(self, name: str, **fields: Any) -> Data:
        """Add one, or change it: image, framework, version, description, position."""
        at = f"/inference-environments/{quote(name, safe='')}"
        answer: Data = self._connection.send("PUT", at, fields, is_repeatable=True)
        return answer

    def delete_inference_environment(self, name: str) -> None:
        self._connection.request("DELETE", f"/inference-environments/{quote(name, safe='')}")


def _path(name: str) -> str:
    return f"/models/{quote(name, safe='')}"


def _version(reference: str) -> str:
    wanted = read_reference(reference)
    which = wanted.alias or (LATEST if wanted.number is None else str(wanted.number))
    return f"{_path(wanted.name)}/versions/{quote(which, safe='')}"


def _either(reference: str) -> str:
    wanted = read_reference(reference)
    is_whole = wanted.number is None and not wanted.alias
    return _path(wanted.name) if is_whole else _version(reference)


def _local_files(path: Path) -> Iterator[tuple[str, Path]]:
    """The files to send: one, or all plain files below a folder, by their paths there."""
    if path.is_file():
        yield path.name, path
        return
    if not path.is_dir():
        raise NotFound("local_file_missing", path=str(path))
    for file in sorted(path.rglob("*")):
        if file.is_file():
            yield file.relative_to(path).as_posix(), file


def _beneath(folder: Path, path: str) -> Path:
    if path.startswith("/") or ".." in path.split("/"):
        raise InvalidInput("parent_folder", path)
    return folder / path


def _chunks(content: Any, path: str, told: Told) -> Iterator[bytes]:
    while chunk := content.read(CHUNK_BYTES):
        told(path, len(chunk))
        yield chunk
