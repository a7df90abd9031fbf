"""The environments that were built, as folders: what each is, who used it last, and which are in use.

Below a person's folder, `files` is the person's own: environments by their keys, and what uv keeps.
`records` is the server's: an environment is there once its record says so. Those that were built in images
have the same two folders below `in-images`, where processes of the person reach nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from footplate.domain.environment import BuiltEnvironment
from footplate.engines.local.environments.inputs import Inputs
from footplate.engines.local.observe.records import read_claim, read_exit
from footplate.engines.local.process.processes import open_process
from footplate.home import layout
from footplate.machine.foldertree import remove_tree, size_of

RECORD = "environment.json"
CACHE = "cache"
PYTHONS = "python"
CONDA = "conda"
IN_IMAGES = "in-images"
# A person's folders, relative to the home.
PEOPLE = ("environments/*", f"environments/*/{IN_IMAGES}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where one environment of one person lies, or will."""

    person: Path
    key: str

    @property
    def files(self) -> Path:
        return self.person / "files"

    @property
    def target(self) -> Path:
        return self.files / self.key

    @property
    def records(self) -> Path:
        return self.person / "records" / self.key

    @property
    def build(self) -> Path:
        return self.records / "build"

    @property
    def source(self) -> Path:
        return self.records / "inputs"

    @property
    def log(self) -> Path:
        # A container is given no more than the folder of its build.
        is_inner = self.is_in_image and not self.is_ready
        return (self.build if is_inner else self.records) / "log"

    @property
    def is_in_image(self) -> bool:
        return self.person.name == IN_IMAGES

    @property
    def uses(self) -> Path:
        return self.records / "uses"

    @property
    def is_ready(self) -> bool:
        return (self.records / RECORD).is_file() and self.target.is_dir()


def place_of(home: Path, owner: str, number: int, inputs: Inputs) -> Place:
    """Name where a person's environment lies; another person's with the same inputs has another key."""
    person = layout.environments_folder(home, owner, number)
    key = hashlib.sha256(f"{person.name} {inputs.key}".encode()).hexdigest()[:12]
    return Place(person / IN_IMAGES if inputs.image else person, key)


def lay_out(place: Place, inputs: Inputs) -> None:
    """Put down what a build needs; what an earlier build left goes."""
    for folder in (place.records, place.target):
        remove_tree(folder)
    place.records.mkdir(parents=True)
    if inputs.tree is not None:
        shutil.copytree(inputs.tree, place.source, symlinks=True)
    place.source.mkdir(exist_ok=True)
    for name, content in inputs.files.items():
        file = place.source / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def goes_on(place: Place) -> bool:
    """Tell whether a build that an earlier server began still runs, or has gone well."""
    claim, ended = read_claim(place.build), read_exit(place.build)
    if claim is None or claim.identity is None:
        return False
    if (pidfd := open_process(claim.identity)) is not None:
        os.close(pidfd)
        return True
    return ended is not None and ended.code == 0


def complete(place: Place, owner: str, inputs: Inputs) -> None:
    """Say that an environment is there; until then nobody uses it."""
    record = {
        "owner": owner,
        "kind": inputs.kind,
        "what": inputs.what,
        "python": inputs.python,
        "image": inputs.image.name if inputs.image else "",
        "size_bytes": size_of(place.target),
        "built_at": time.time(),
    }
    with suppress(OSError):
        # Of a build in an image, which may have removed it.
        (place.build / "log").replace(place.records / "log")
    draft = place.records / f"{RECORD}.part"
    draft.write_text(json.dumps(record))
    draft.replace(place.records / RECORD)
    # The log stays, for who asks what was installed.
    for left in (place.build, place.source):
        remove_tree(left)


def use(place: Place, attempt_id: str) -> None:
    """Note that an attempt uses an environment."""
    place.uses.mkdir(exist_ok=True)
    (place.uses / attempt_id).touch()
    os.utime(place.records / RECORD)


def lead_to(place: Place, link: Path) -> None:
    """Lead the processes of a job to an environment."""
    link.parent.mkdir(parents=True, exist_ok=True)
    draft = link.with_name(f".{link.name}-{os.urandom(4).hex()}")
    draft.symlink_to(place.target)
    draft.replace(link)


def led_to(link: Path) -> Path | None:
    """Say which environment a job was led to; None when it was not, or when that is no longer there."""
    with suppress(OSError):
        target = link.readlink()
        return target if target.is_dir() else None
    return None


def places(home: Path) -> Iterator[Place]:
    """Go through all environments, also those that are being built or were left half built."""
    for person in people(home):
        for records in (person / "records").glob("*"):
            yield Place(person, records.name)


def people(home: Path) -> list[Path]:
    return [person for pattern in PEOPLE for person in home.glob(pattern)]


def users_of(place: Place, known_attempts: Container[str]) -> list[str]:
    """Name the attempts that use an environment; forget those that are over."""
    living = []
    for mark in place.uses.glob("*"):
        if mark.name in known_attempts:
            living.append(mark.name)
        else:
            mark.unlink(missing_ok=True)
    return living


def describe(place: Place, known_attempts: Container[str]) -> BuiltEnvironment | None:
    """Read what an environment is; None while it is being built."""
    file = place.records / RECORD
    try:
        record: Mapping[str, Any] = json.loads(file.read_text())
        used_at = file.stat().st_mtime
    except (OSError, ValueError):
        return None
    return BuiltEnvironment(
        id=place.key,
        owner=record["owner"],
        kind=record["kind"],
        what=record["what"],
        python=record["python"],
        image=record.get("image", ""),
        size_bytes=record["size_bytes"],
        built_at=record["built_at"],
        used_at=used_at,
        attempts=tuple(sorted(users_of(place, known_attempts))),
    )


def remove(place: Place) -> None:
    """Remove an environment; its record first, so that nobody begins to use it."""
    (place.records / RECORD).unlink(missing_ok=True)
    remove_tree(place.target)
    remove_tree(place.records)
