"""Backing up a home folder and restoring one, with the settings that a server would use."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from footplate.server.settings import load
from footplate.services import backup, restoring
from footplate.services.backup import Manifest, Source
from footplate.store.database import open_engine, sqlite_url
from footplate.store.faults import GONE, translate

DATABASE_URL = "FOOTPLATE_DATABASE_URL"


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored, and where its database is now: `sqlite` stands for a file in the home folder."""

    manifest: Manifest
    database_kind: str


def back_up(home: Path, folder: Path, of_jobs: str, with_storages: bool) -> Manifest:
    """Back up a home folder, while its server runs or not."""
    settings = load(home)
    engine = open_engine(settings.database_url or sqlite_url(home))
    try:
        source = Source(home, engine, settings.tls_files or ())
        return backup.make(source, folder.absolute(), time.time(), of_jobs, with_storages)
    except GONE as error:
        raise translate(error) from error
    finally:
        engine.dispose()


def restore(
    folder: Path, home: Path, in_sqlite: bool, environment: Mapping[str, str] = os.environ
) -> Restored:
    """Make a home folder from a backup; its database goes where the environment or its settings say."""
    found = restoring.read(folder.absolute())
    restoring.refuse_used_home(home)
    url = "" if in_sqlite else environment.get(DATABASE_URL) or restoring.settings_url(found)
    restoring.check(found)
    try:
        restoring.restore(found, home, url)
    except GONE as error:
        raise translate(error) from error
    return Restored(found.manifest, "sqlite" if not url else url.partition(":")[0].partition("+")[0])
