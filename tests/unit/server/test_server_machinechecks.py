"""What a check-up finds on machines that are as they should be, and on those that are not."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from footplate.domain.messages import say, text
from footplate.engines.local.confine.confinement import ALL_LIMITS, Confinement
from footplate.engines.local.process import native
from footplate.server import machinechecks as checks
from footplate.server.nodefields import GpuGroup, NodeSettings
from footplate.server.settings import Settings
from footplate.store.database import open_engine, sqlite_url
from footplate.store.migrate import migrate
from footplate.testing.certificates import Authority
from footplate.testing.postgres import Postgres
from footplate.wire.checkup import FAILED, OK, UNKNOWN, Finding, carry_out


def only(findings: Iterable[Finding]) -> Finding:
    (found,) = findings
    return found


def by_name(findings: Iterable[Finding]) -> dict[str, Finding]:
    return {one.name: one for one in findings}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return Settings(home)


def test_a_home_that_others_can_look_into_is_told_with_the_line_to_type(settings: Settings) -> None:
    assert only(checks.check_home(settings)).state == OK
    settings.home.chmod(0o755)
    found = only(checks.check_home(settings))
    assert (found.state, found.advice) == (FAILED, f"chmod 700 {settings.home}")


def test_a_home_that_is_not_there_yet_is_no_fault(tmp_path: Path) -> None:
    assert only(checks.check_home(Settings(tmp_path / "later"))).state == UNKNOWN
    assert only(checks.check_database(Settings(tmp_path / "later"))).state == UNKNOWN
    assert by_name(checks.check_disk(Settings(tmp_path / "later")))["disk"].meaning.endswith("results")


def test_a_database_is_told_with_its_versions(settings: Settings) -> None:
    engine = open_engine(sqlite_url(settings.home))
    migrate(engine)
    found = by_name(checks.check_database(settings))
    assert found["database"].state == found["tables"].state == OK
    assert found["database"].meaning.startswith("sqlite 3.")
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    later = by_name(checks.check_database(settings))["tables"]
    assert later.state == FAILED
    assert later.is_needed
    assert "9999, which is later than this program's" in later.meaning


def test_postgresql_is_asked_and_its_password_is_not_shown(settings: Settings, postgres: Postgres) -> None:
    url = postgres.url(postgres.create())
    found = by_name(checks.check_database(Settings(settings.home, database_url=url)))
    assert found["database"].meaning.startswith("postgresql 1")
    assert found["tables"].meaning.startswith("version none; the next start upgrades them")
    away = "postgresql://footplate:hush-hush@127.0.0.1:1/footplate"
    lost = only(checks.check_database(Settings(settings.home, database_url=away)))
    assert lost.state == FAILED
    assert "hush-hush" not in lost.meaning


def test_a_file_that_is_no_database_is_told(settings: Settings) -> None:
    (settings.home / "footplate.db").write_text("this is not a database, and long enough to be one" * 50)
    assert only(checks.check_database(settings)).state == FAILED


def test_a_certificate_is_told_with_its_names_and_its_end(tmp_path: Path, settings: Settings) -> None:
    assert list(checks.check_tls(settings)) == []
    pair = Authority(tmp_path / "authority").issue("train.example.org")
    files = {"tls_cert": str(pair.cert), "tls_key": str(pair.key)}
    bad = only(checks.check_tls(Settings(settings.home, **files)))  # type: ignore[arg-type]
    assert bad.state == FAILED
    assert "it is for train.example.org, but the address is https://127.0.0.1" in bad.meaning
    named = Settings(settings.home, public_url="https://train.example.org", **files)  # type: ignore[arg-type]
    assert only(checks.check_tls(named)).state == OK
    pair.key.write_text("nothing")
    assert only(checks.check_tls(named)).state == FAILED


def engine_at(path: Path, answer: bytes) -> tuple[socket.socket, threading.Thread]:
    """A container engine that says one thing."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        peer, _ = listener.accept()
        with peer:
            peer.recv(4096)
            peer.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    return listener, thread


PODMAN = b'{"Components":[{"Name":"Podman Engine","Version":"4.3"}]}'


@pytest.mark.parametrize(
    ("body", "state", "says"),
    [
        (PODMAN, OK, "Podman Engine 4.3"),
        (b'{"Version":"20.10"}', OK, "Docker 20.10"),
        (b"no", FAILED, "does not answer"),
        (None, FAILED, "does not answer"),
    ],
)
def test_a_container_engine_is_asked_for_its_name(
    tmp_path: Path, body: bytes | None, state: str, says: str
) -> None:
    # A socket's path must be short.
    path = Path(f"/tmp/fp-doctor-{os.getpid()}.sock")
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
    answer = b"" if body is None else head % len(body) + body
    listener, thread = engine_at(path, answer)
    try:
        found = only(checks.check_containers(Settings(tmp_path, container_socket=str(path))))
    finally:
        thread.join()
        listener.close()
        path.unlink()
    assert found.state == state, found
    assert says in found.meaning


def test_without_a_container_engine_it_is_said_what_cannot_run(tmp_path: Path) -> None:
    found = only(checks.check_containers(Settings(tmp_path, container_socket="/nowhere.sock")))
    assert found.state == FAILED
    assert "jobs with an image cannot run" in found.meaning
    assert "podman" in found.advice


def test_every_limit_has_a_line_with_its_reason() -> None:
    denied = say("groups_unwritable", error="Permission denied")
    confinement = Confinement(
        faults={
            "memory": denied,
            "files": say("no_mount_namespace", error="EPERM"),
            "processes": say("no_control_groups", controller="pids"),
        }
    )
    found = by_name(checks.findings_of(confinement))
    assert set(found) == {str(say("check_limit", limit=limit)) for limit in ALL_LIMITS}
    assert found["limit of CPUs"].state == OK
    assert found["limit of memory"].state == FAILED
    assert "Permission denied" in found["limit of memory"].meaning
    assert "install-service" in found["limit of memory"].advice
    assert "namespaces" in found["limit of files"].advice
    assert "install-service" not in found["limit of processes"].advice


def test_it_is_said_by_which_program_tasks_are_begun(settings: Settings, tmp_path: Path) -> None:
    found = only(checks.check_native(settings))
    assert (found.state == OK) == (not native.why_not())
    assert "footplate-init" in found.meaning
    assert "gcc" in found.advice or found.state == OK


def test_a_program_that_cannot_be_used_is_not(tmp_path: Path) -> None:
    assert native.why_not(tmp_path / "none") == "it was not built"
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho 0\n")
    other.chmod(0o644)
    assert "cannot be run" in native.why_not(other)
    older = tmp_path / "older"
    older.write_text("#!/bin/sh\necho 0\n")
    older.chmod(0o755)
    assert native.why_not(older) == "it is of another version"
    assert native.find(is_wanted=False) == ""


def test_looking_leaves_no_control_groups_behind(settings: Settings) -> None:
    def groups() -> set[str]:
        return {str(path) for path in Path("/sys/fs/cgroup").glob("**/footplate-any")}

    before = groups()
    list(checks.check_control_groups(settings))
    list(checks.check_limits(settings))
    assert groups() <= before


def test_limits_that_are_turned_off_and_declared_cards_are_told(tmp_path: Path) -> None:
    assert only(checks.check_limits(Settings(tmp_path, limits=False))).state == FAILED
    declared = Settings(tmp_path, node=NodeSettings(gpus=(GpuGroup("A100", 4),)))
    assert "4 declared" in only(checks.check_gpus(declared)).meaning


def test_user_namespaces_are_tried_out(settings: Settings) -> None:
    assert only(checks.check_user_namespaces(settings)).state in (OK, FAILED, UNKNOWN)


def test_a_check_that_fails_itself_is_a_finding_and_ends_no_other() -> None:
    def breaks(_subject: Any) -> Iterable[Finding]:
        raise RuntimeError("oh no")

    def holds(_subject: Any) -> Iterable[Finding]:
        return [Finding(say("check_gpus"), OK, text("fine"))]

    found = carry_out((("check_disk", breaks), ("check_gpus", holds)), None)
    assert [(one.name, one.state) for one in found] == [("disk", UNKNOWN), ("GPUs", OK)]
    assert "RuntimeError: oh no" in found[0].meaning
