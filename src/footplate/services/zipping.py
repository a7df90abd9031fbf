"""ZIP archives as streams: of a job's folder, and of code whatever it was sent as."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from footplate.services.files import add_all
from footplate.services.outlet import Outlet, written_by

# Below this in memory, above it in a file.
SPOOLED_BYTES = 4 * 1024**2


def zip_folder(folder: Path) -> AsyncIterator[bytes]:
    """Yield the files in a folder as ZIP; links are left out and never followed."""

    def write(outlet: Outlet) -> None:
        with tempfile.SpooledTemporaryFile(SPOOLED_BYTES) as spool:
            with tarfile.open(mode="w", fileobj=spool) as tar:
                add_all(tar, folder, "")
            spool.seek(0)
            with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as out:
                for name, content in _of_tar(spool):
                    _add(out, name, content)

    return written_by(write)


def zip_code(path: Path, prefix: str = "", manifest: str | None = None) -> AsyncIterator[bytes]:
    """Yield an archive of code as ZIP, below a prefix and beside a manifest where they are given."""

    def write(outlet: Outlet) -> None:
        with _opened(path) as members, zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as out:
            if manifest is not None:
                out.writestr(f"{prefix}manifest.yaml", manifest)
            for name, content in members:
                _add(out, prefix + name, content)

    return written_by(write)


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            yield ((one.filename, packed.open(one)) for one in packed.infolist() if not one.is_dir())
        return
    with path.open("rb") as file:
        yield _of_tar(file)


def _of_tar(file: IO[bytes]) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(fileobj=file) as packed:
        for member in packed:
            content = packed.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name.removeprefix("./").lstrip("/"), content


def _add(out: zipfile.ZipFile, name: str, content: IO[bytes]) -> None:
    with out.open(zipfile.ZipInfo(name), "w", force_zip64=True) as target:
        shutil.copyfileobj(content, target)
