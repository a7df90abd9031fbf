"""An older program on the database of a newer one: it changes nothing, and says what to do."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from footplate import __version__
from footplate.store.migrate import HEAD
from footplate.testing.process import ServerProcess


def test_a_server_that_is_older_than_its_database_says_so_in_one_sentence(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "home") as server:
        server.stop()
        with closing(sqlite3.connect(server.home / "footplate.db")) as database, database:
            database.execute("UPDATE alembic_version SET version_num = '9999'")
        refused = server.command("up", "--home", str(server.home), "--port", "0", timeout=30)
    assert refused.returncode == 1
    (sentence,) = (line for line in refused.stderr.splitlines() if "WARNING" not in line)
    assert sentence.startswith("error: the database has tables of version 9999 from a newer Footplate;")
    assert f"this is Footplate {__version__}, which knows up to version {HEAD}" in sentence
