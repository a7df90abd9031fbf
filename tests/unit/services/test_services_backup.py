"""Backups are whole or nothing, and become a home again on either kind of database."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from footplate.domain.errors import Conflict, FootplateError, InvalidInput, NotFound
from footplate.services import backup, restoring
from footplate.services.backup import Source
from footplate.store import audit_queries
from footplate.store.database import open_engine, sqlite_url
from footplate.store.migrate import HEAD, migrate
from footplate.store.tables import audit, images, secrets, users
from footplate.testing.postgres import Postgres

NOW = 1_800_000_000.0
USER = {"name": "ada", "password_hash": "x", "is_admin": True, "is_enabled": True, "created_at": NOW}
IMAGE = {
    "name": "torch",
    "reference": "torch:2",
    "description": "für alle",
    "framework": "",
    "version": "",
    "is_default": False,
    "created_at": NOW,
    "updated_at": NOW + 0.123456789,
}
SECRET = {
    "scope": "user:ada",
    "name": "wandb",
    "owner": "ada",
    "queue": "",
    "kind": "text",
    "sealed": bytes(range(256)),
    "created_at": NOW,
    "updated_at": NOW,
    "last_used_at": None,
}


def fill(engine: sa.Engine) -> None:
    with engine.execution_options(footplate_writer=True).begin() as connection:
        connection.execute(sa.insert(users), USER)
        connection.execute(sa.insert(images), IMAGE)
        connection.execute(sa.insert(secrets), SECRET)
        for number in range(3):
            audit_queries.record(connection, NOW, "ada", "user.added", f"user-{number}", {})


def rows(engine: sa.Engine) -> dict[str, Any]:
    with engine.connect() as connection:
        return {
            table.name: [dict(row) for row in connection.execute(sa.select(table)).mappings()]
            for table in (users, images, secrets, audit)
        }


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "secret").write_bytes(b"k" * 32)
    (home / "settings.toml").write_text("port = 8751\n")
    (home / "identity").write_text("this very home")
    (home / "client.toml").write_text('token = "fp_admin"')
    (home / "lock").write_text("pid 1")
    blob = home / "blobs" / "ab" / ("ab" * 32)
    blob.parent.mkdir(parents=True)
    blob.write_bytes(b"code")
    (home / "blobs" / ".upload-1").write_bytes(b"half")
    over = home / "jobs" / "2mgk1" / "2mgk1yaq6pst" / "attempt-0" / "main-0"
    runs = home / "jobs" / "2mgk2" / "2mgk205jhbzy" / "attempt-0" / "main-0"
    for task in (over, runs):
        (task / "work").mkdir(parents=True)
        (task / "work" / "model.bin").write_bytes(b"weights")
        (task / "log").write_bytes(b"a line\n")
        (task / "pid").write_text("1 2 3")
    (over / "exit").write_text("0\n")
    (home / "experiments").write_text("{}\n")
    curves = "jobs/2mgk1/2mgk1yaq6pst/metrics/points"
    for name in (curves, "people/ada-1/.bashrc", "people/ada-1/.cache/wheel", "storages/home/ada-1/data"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("kept\n")
    (home / "uploads").mkdir()
    (home / "uploads" / "half").write_text("half")
    return home


@pytest.fixture
def engine(empty_database_url: str) -> Iterator[sa.Engine]:
    engine = open_engine(empty_database_url)
    migrate(engine)
    fill(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def whole(home: Path, tmp_path: Path) -> Path:
    """A backup of a home with SQLite."""
    engine = open_engine(sqlite_url(home))
    migrate(engine)
    fill(engine)
    backup.make(Source(home, engine), tmp_path / "whole", NOW, backup.FILES)
    engine.dispose()
    return tmp_path / "whole"


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def restored(folder: Path, home: Path, url: str = "") -> None:
    found = restoring.read(folder)
    restoring.check(found)
    restoring.restore(found, home, url)


def test_rows_come_back_from_either_kind_of_database(home: Path, engine: sa.Engine, tmp_path: Path) -> None:
    manifest = backup.make(Source(home, engine), tmp_path / "copy", NOW)
    assert (manifest.tables, manifest.database_kind) == (HEAD, engine.dialect.name)
    restored(tmp_path / "copy", tmp_path / "again")
    with closing(open_engine(sqlite_url(tmp_path / "again")).connect()) as connection:
        assert rows(connection.engine) == rows(engine)
        connection.engine.dispose()


def test_a_copy_of_sqlite_becomes_a_postgresql(whole: Path, tmp_path: Path, postgres: Postgres) -> None:
    name = postgres.create()
    url = postgres.url(name)
    restored(whole, tmp_path / "again", url)
    target = open_engine(url)
    assert [row["subject"] for row in rows(target)["audit"]] == ["user-0", "user-1", "user-2"]
    assert rows(target)["secrets"] == [SECRET]
    # Numbers go on behind those that came along.
    with target.begin() as connection:
        audit_queries.record(connection, NOW, "ada", "user.added", "user-3", {})
    assert [row["seq"] for row in rows(target)["audit"]] == [1, 2, 3, 4]
    target.dispose()
    assert not (tmp_path / "again" / "footplate.db").exists()
    assert f'database_url = "{url}"' in (tmp_path / "again" / "settings.toml").read_text()
    with pytest.raises(Conflict, match="is not empty: name an empty one"):
        restored(whole, tmp_path / "third", url)
    assert not (tmp_path / "third").exists()
    postgres.drop(name)


def test_a_backup_holds_what_a_home_needs_and_nothing_that_ties_it_to_the_original(whole: Path) -> None:
    kept = {name.removeprefix("home/") for name in names(whole)}
    assert {"settings.toml", "secret", "experiments", f"blobs/ab/{'ab' * 32}"} <= kept
    for left_out in ("identity", "client.toml", "lock", "blobs/.upload-1", "uploads/half"):
        assert left_out not in kept
    # Who runs a task is known to the original alone; how one ended, to everybody.
    assert "jobs/2mgk1/2mgk1yaq6pst/attempt-0/main-0/pid" in kept
    assert "jobs/2mgk2/2mgk205jhbzy/attempt-0/main-0/pid" not in kept


def test_everything_in_a_backup_is_for_its_owner_alone(whole: Path) -> None:
    for path in (whole, *whole.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize(
    ("of_jobs", "has_logs", "has_files"),
    [(backup.NOTHING, False, False), (backup.LOGS, True, False), (backup.FILES, True, True)],
)
def test_logs_and_files_of_jobs_are_a_choice(
    home: Path, engine: sa.Engine, tmp_path: Path, of_jobs: str, has_logs: bool, has_files: bool
) -> None:
    backup.make(Source(home, engine), tmp_path / "copy", NOW, of_jobs)
    found = names(tmp_path / "copy")
    assert any(name.endswith("main-0/log") for name in found) is has_logs
    assert any(name.endswith("main-0/exit") for name in found) is has_logs
    assert any(name.endswith("metrics/points") for name in found) is has_logs
    assert any(name.endswith("work/model.bin") for name in found) is has_files
    assert not any("people/" in name or "storages/" in name for name in found)
    assert "home/experiments" in found


def test_files_of_people_are_a_choice_and_come_back_with_their_rights(
    home: Path, engine: sa.Engine, tmp_path: Path
) -> None:
    mine = home / "storages/home/ann-1"
    (mine / ".footplate").mkdir(parents=True)
    (mine / ".footplate/0000000000000001").write_bytes(b"half an upload")
    (mine / "notes").write_text("kept")
    (mine / "notes").chmod(0o644)
    (home / "people/ann-1").mkdir(parents=True)
    (home / "people/ann-1/.netrc").write_text("kept too")
    if os.geteuid() == 0:
        os.chown(mine, 4321, 4321)
    backup.make(Source(home, engine), tmp_path / "without", NOW)
    assert not any(name.startswith(("home/storages", "home/people")) for name in names(tmp_path / "without"))
    made = backup.make(Source(home, engine), tmp_path / "with", NOW, with_storages=True)
    assert made.has_storages
    again = tmp_path / "again"
    restored(tmp_path / "with", again)
    kept = again / "storages/home/ann-1"
    assert (kept / "notes").read_text() == "kept"
    assert (kept / "notes").stat().st_mode & 0o777 == 0o644
    assert kept.stat().st_uid == mine.stat().st_uid
    assert (again / "people/ann-1/.netrc").read_text() == "kept too"
    assert (again / "people/ada-1/.bashrc").exists()
    assert not (again / "people/ada-1/.cache").exists()
    assert not (kept / ".footplate").exists()


def test_a_restored_home_is_as_the_original_was(whole: Path, home: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    restored(whole, again)
    assert names(again) == {
        "footplate.db",
        "lock",
        "settings.toml",
        "secret",
        "experiments",
        "jobs/2mgk1/2mgk1yaq6pst/metrics/points",
        f"blobs/ab/{'ab' * 32}",
        *(
            f"jobs/2mgk1/2mgk1yaq6pst/attempt-0/main-0/{name}"
            for name in ("log", "exit", "pid", "work/model.bin")
        ),
        *(f"jobs/2mgk2/2mgk205jhbzy/attempt-0/main-0/{name}" for name in ("log", "work/model.bin")),
    }
    assert (again / "secret").read_bytes() == b"k" * 32
    assert again.stat().st_mode & 0o777 == 0o700
    assert (again / "secret").stat().st_mode & 0o777 == 0o600
    assert (again / "settings.toml").read_text() == "port = 8751\n"


def test_tls_files_of_the_home_come_along_and_others_do_not(
    home: Path, engine: sa.Engine, tmp_path: Path
) -> None:
    inside, outside = home / "tls" / "server.key", tmp_path / "elsewhere.key"
    inside.parent.mkdir()
    inside.write_text("key")
    outside.write_text("key")
    backup.make(Source(home, engine, (inside, outside)), tmp_path / "copy", NOW)
    assert "home/tls/server.key" in names(tmp_path / "copy")
    assert not any("elsewhere" in name for name in names(tmp_path / "copy"))


def test_a_home_that_is_not_empty_is_left_alone(whole: Path, home: Path) -> None:
    before = names(home)
    with pytest.raises(Conflict, match="is not empty"):
        restored(whole, home)
    assert names(home) == before


def test_a_folder_that_is_not_empty_is_no_place_for_a_backup(
    home: Path, engine: sa.Engine, whole: Path, tmp_path: Path
) -> None:
    with pytest.raises(Conflict, match="already contains a backup: choose a new folder"):
        backup.make(Source(home, engine), whole, NOW)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("important")
    with pytest.raises(Conflict, match="is not empty"):
        backup.make(Source(home, engine), tmp_path / "other", NOW)
    assert (tmp_path / "other" / "thesis.tex").exists()
    with pytest.raises(InvalidInput, match="lies in the home folder"):
        backup.make(Source(home, engine), home / "backup", NOW)


def test_a_backup_that_fails_leaves_nothing(home: Path, engine: sa.Engine, tmp_path: Path) -> None:
    # After the database was copied, the next step fails.
    (home / "blobs").rename(home / "blobs-away")
    (home / "blobs").symlink_to("/proc/self/mem")
    with pytest.raises(OSError):
        backup.make(Source(home, engine), tmp_path / "copy", NOW)
    assert not (tmp_path / "copy").exists()


def test_a_folder_without_a_server_is_not_backed_up(engine: sa.Engine, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match="is not the home folder of a server"):
        backup.make(Source(tmp_path / "empty", engine), tmp_path / "copy", NOW)


def test_a_half_written_backup_is_not_taken_for_a_whole_one(whole: Path, tmp_path: Path) -> None:
    (whole / "backup.json").unlink()
    with pytest.raises(NotFound, match="is not a complete backup: it was not finished"):
        restored(whole, tmp_path / "again")
    with pytest.raises(NotFound, match="is not a complete backup"):
        restored(tmp_path / "nowhere", tmp_path / "again")


@pytest.mark.parametrize("name", ["home/secret", "database.sqlite", f"home/blobs/ab/{'ab' * 32}"])
@pytest.mark.parametrize("is_gone", [True, False])
def test_a_damaged_file_is_named_and_nothing_is_restored(
    whole: Path, tmp_path: Path, name: str, is_gone: bool
) -> None:
    path = whole / name
    if is_gone:
        path.unlink()
    else:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    with pytest.raises(InvalidInput, match=f"is damaged: {name} is not what was written"):
        restored(whole, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def rewrite(whole: Path, **changes: Any) -> None:
    manifest = json.loads((whole / "backup.json").read_text())
    (whole / "backup.json").write_text(json.dumps(manifest | changes))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"tables": "9999", "footplate": "7.1"},
            f"made by Footplate 7.1, with tables of version 9999.*{HEAD}",
        ),
        ({"format": 2, "footplate": "8.0"}, "made by Footplate 8.0, in a form"),
        ({"unknown": 1}, "is not the manifest of a backup"),
        ({"contents_sha256": "0" * 64}, "contents.jsonl is damaged"),
    ],
)
def test_what_a_later_version_made_is_refused_with_both_versions(
    whole: Path, tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    rewrite(whole, **changes)
    with pytest.raises(FootplateError, match=says):
        restored(whole, tmp_path / "again")


@pytest.mark.parametrize("text", ["", "{", "[]", "\xff"])
def test_a_broken_manifest_is_refused(whole: Path, tmp_path: Path, text: str) -> None:
    (whole / "backup.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(FootplateError):
        restored(whole, tmp_path / "again")


def test_contents_that_lead_out_of_the_home_are_refused(whole: Path, tmp_path: Path) -> None:
    line = json.dumps({"kind": "link", "path": "home/../../escape", "target": "/etc"}) + "\n"
    (whole / "contents.jsonl").write_text(line)
    rewrite(whole, contents_sha256=hashlib.sha256(line.encode()).hexdigest())
    with pytest.raises(InvalidInput, match="lies outside of the backup"):
        restored(whole, tmp_path / "again")


def test_a_restore_that_was_cut_off_is_done_again_and_no_server_starts_before(
    whole: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    (again / ".restoring" / "jobs").mkdir(parents=True)
    (again / "secret").write_bytes(b"moved already")
    with pytest.raises(Conflict, match="was interrupted: run it again"):
        restoring.refuse_unfinished(again)
    restored(whole, again)
    restoring.refuse_unfinished(again)
    assert (again / "secret").read_bytes() == b"k" * 32
    assert (again / "footplate.db").exists()


def test_a_file_that_would_run_as_its_owner_no_longer_does(home: Path, tmp_path: Path) -> None:
    program = home / "jobs" / "2mgk1" / "2mgk1yaq6pst" / "attempt-0" / "main-0" / "work" / "model.bin"
    program.chmod(0o4755)
    engine = open_engine(sqlite_url(home))
    migrate(engine)
    backup.make(Source(home, engine), tmp_path / "copy", NOW, backup.FILES)
    engine.dispose()
    restored(tmp_path / "copy", tmp_path / "again")
    assert (tmp_path / "again" / program.relative_to(home)).stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize(
    ("text", "url", "expected"),
    [
        ("port = 1\n", "", "port = 1\n"),
        ("", "postgresql://x/y", 'database_url = "postgresql://x/y"\n'),
        ('database_url = "postgresql://old"\nport = 1\n', "", "\nport = 1\n"),
        (
            'port = 1\ndatabase_url="postgresql://old"\n[node]\nname = "n"\n',
            "postgresql://new",
            'port = 1\ndatabase_url = "postgresql://new"\n[node]\nname = "n"\n',
        ),
        (
            '[node]\nname = "n"\n',
            "postgresql://new",
            'database_url = "postgresql://new"\n[node]\nname = "n"\n',
        ),
    ],
)
def test_restored_settings_name_the_restored_database(
    tmp_path: Path, text: str, url: str, expected: str
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    restoring._name_database(path, url)
    assert path.read_text() == expected


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files to others")
def test_files_of_tasks_belong_to_whom_they_belonged(home: Path, tmp_path: Path) -> None:
    log = home / "jobs" / "2mgk1" / "2mgk1yaq6pst" / "attempt-0" / "main-0" / "log"
    os.chown(log, 100_123, 100_124)
    engine = open_engine(sqlite_url(home))
    migrate(engine)
    backup.make(Source(home, engine), tmp_path / "copy", NOW, backup.LOGS)
    engine.dispose()
    copy = tmp_path / "copy" / "home" / log.relative_to(home)
    assert copy.stat().st_uid == 0
    restored(tmp_path / "copy", tmp_path / "again")
    found = (tmp_path / "again" / log.relative_to(home)).stat()
    assert (found.st_uid, found.st_gid) == (100_123, 100_124)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files to others")
@pytest.mark.parametrize("is_made_before", [True, False])
def test_what_root_restores_belongs_to_the_account_that_has_the_home(
    home: Path, tmp_path: Path, is_made_before: bool
) -> None:
    engine = open_engine(sqlite_url(home))
    migrate(engine)
    engine.dispose()
    log = home / "jobs" / "2mgk1" / "2mgk1yaq6pst" / "attempt-0" / "main-0" / "log"
    for path in (home, *home.rglob("*")):
        os.chown(path, 901, 902)
    os.chown(log, 100_123, 100_124)
    engine = open_engine(sqlite_url(home))
    backup.make(Source(home, engine), tmp_path / "copy", NOW, backup.LOGS)
    engine.dispose()
    again, owner = tmp_path / "again", (901, 902)
    if is_made_before:
        again.mkdir(mode=0o700)
        os.chown(again, 801, 802)
        owner = (801, 802)
    restored(tmp_path / "copy", again)
    owners = {path.relative_to(again): (path.stat().st_uid, path.stat().st_gid) for path in again.rglob("*")}
    assert owners.pop(log.relative_to(home)) == (100_123, 100_124)
    assert set(owners.values()) == {owner}, owners
    assert (again.stat().st_uid, again.stat().st_gid) == owner
