"""Whether this command stands in for those of FfDL and Prophecis, and what it does as they did then.

Scripts that were written for them have nobody to ask, read the id that they print, and unpack ZIPs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tarfile
    import zipfile

EARLIEST = 365 * 86400 * 11
ID_PREFIX = "training-"
# What they call what is downloaded.
FILES = {"code": "definition", "output": "trainedmodel"}


def stands_in() -> bool:
    """Whether the server is named in their way only."""
    return bool(os.environ.get("DLAAS_URL")) and not os.environ.get("FOOTPLATE_URL")


def is_for_prophecis() -> bool:
    return stands_in() and bool(os.environ.get("MLSS_AUTH_USER"))


def model_id(job_id: str) -> str:
    return f"{ID_PREFIX}{job_id}"


def line_with_id(job_id: str) -> str:
    """What their scripts look for in the answer, whatever language its reader has."""
    return f"Model ID: {model_id(job_id)}"


def file_of(job_id: str, what: str) -> Path:
    """The file that their `download` writes when none is named."""
    return Path(f"{model_id(job_id)}-{FILES[what]}.zip")


def zipped(archive: Path, target: Path) -> Path:
    """Turn the archive that was downloaded into a ZIP of the same files, without the folder around them."""
    import tarfile
    import zipfile

    draft = target.with_name(f".{target.name}.part")
    try:
        with tarfile.open(archive, "r:*") as files, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as made:
            for one in files:
                _add(made, files, one)
        return draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
        archive.unlink(missing_ok=True)


def _add(made: zipfile.ZipFile, files: tarfile.TarFile, one: tarfile.TarInfo) -> None:
    content = files.extractfile(one) if one.isfile() else None
    if content is None:
        return
    import time
    import zipfile

    # What a ZIP cannot say of earlier times.
    written_at = time.localtime(max(one.mtime, EARLIEST))[:6]
    entry = zipfile.ZipInfo(one.name.removeprefix("./").partition("/")[2] or one.name, written_at)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100000 | one.mode & 0o777) << 16
    with made.open(entry, "w", force_zip64=True) as out:
        while chunk := content.read(1 << 20):
            out.write(chunk)


def write_manifest(name: str, framework: str, version: str) -> str:
    """A manifest to begin with, in the words of the one or the other."""
    import yaml

    is_prophecis = is_for_prophecis()
    volume = {"type": "host_mount", "name": "host-mount", "path": "/data"}
    store = {
        "id": "data",
        "type": "mount_volume",
        "training_data": {"container": "data"},
        "training_results": {"container": "result"},
        "connection": volume,
    }
    own = {"namespace": "default", "code_selector": "codeFile", "job_type": "Local"}
    manifest = {
        "name": name,
        "version": "1.0",
        "description": name,
        "cpus": 1,
        "gpus": 0,
        "memory": "1Gb" if is_prophecis else "1GiB",
        **(own if is_prophecis else {}),
        "learners": 1,
        "data_stores": [store],
        "framework": {"name": framework, "version": version, "command": "python3 ${MODEL_DIR}/train.py"},
    }
    text: str = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True)
    return text
