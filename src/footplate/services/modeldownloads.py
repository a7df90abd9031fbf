"""What a caller may fetch of a model: one file of a version, or all of them as an archive."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path

from footplate.domain.errors import NotFound
from footplate.domain.model import Model, ModelFile, Version
from footplate.services.access import Caller
from footplate.services.modelaccess import find_version
from footplate.services.outlet import Outlet, written_by
from footplate.services.platform import Platform

BUFFER_BYTES = 256 * 1024


async def locate(
    platform: Platform, caller: Caller, id_or_name: str, which: str, path: str = ""
) -> tuple[ModelFile, Path]:
    """Find one file of a version, by its path or as its only one."""
    model, version = await find_version(platform, caller, id_or_name, which)
    files = {one.path: one for one in version.files}
    wanted = path or next(iter(files), "")
    found = files.get(wanted) if path or len(files) == 1 else None
    if found is None and not path:
        raise NotFound("model_file_unnamed", model=model.name, version=version.number, n_files=len(files))
    if found is None:
        raise NotFound("model_file_unknown", model=model.name, version=version.number, path=path)
    return found, _place(platform, model, version, found)


def _place(platform: Platform, model: Model, version: Version, file: ModelFile) -> Path:
    place = platform.models.path(file.sha256)
    if place is None:
        raise NotFound("model_file_gone", model=model.name, version=version.number, path=file.path)
    return place


async def archive(
    platform: Platform, caller: Caller, id_or_name: str, which: str
) -> tuple[str, AsyncIterator[bytes]]:
    """Name a version, and yield all its files as .tar.gz."""
    model, version = await find_version(platform, caller, id_or_name, which)
    places = [(one, _place(platform, model, version, one)) for one in version.files]
    name = f"{model.name}-v{version.number}"

    def write(outlet: Outlet) -> None:
        with (
            gzip.GzipFile(fileobj=outlet, mode="wb", compresslevel=1) as packed,
            tarfile.open(mode="w|", fileobj=packed, bufsize=BUFFER_BYTES) as tar,
        ):
            for file, place in places:
                _add(tar, f"{name}/{file.path}", place, version.created_at)

    return name, written_by(write)


def _add(tar: tarfile.TarFile, name: str, place: Path, at: float) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = place.stat().st_size, int(at), 0o644
    with place.open("rb") as content:
        tar.addfile(entry, content)
