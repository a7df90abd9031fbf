"""Uploads over a restart of the server, with what a crash in the middle of a piece leaves."""

from __future__ import annotations

from pathlib import Path

from apiclient import NODE, Api, Data

from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import served

UPLOADS = "/storages/home/uploads"


def begin(home: Path, clock: FakeClock) -> Data:
    with served(home, FakeEngine(clock, [NODE]), clock) as server, Api(server, server.sign_in()) as admin:
        body = {"path": "d/file", "size_bytes": 9}
        upload = admin.ok("POST", UPLOADS, status=201, json=body)
        admin.ok("PATCH", f"{UPLOADS}/{upload['id']}", params={"offset": 0}, content=b"abc")
        return upload


def test_an_upload_goes_on_after_a_crash_in_the_middle_of_a_piece(tmp_path: Path) -> None:
    clock, home = FakeClock(), tmp_path / "home"
    upload = begin(home, clock)
    (part,) = home.glob(f"storages/home/*/.footplate/{upload['id']}")
    # What had come of the next piece when the server was killed; nobody has checked it.
    part.write_bytes(b"abc??")
    with served(home, FakeEngine(clock, [NODE]), clock) as server, Api(server, server.sign_in()) as admin:
        at = f"{UPLOADS}/{upload['id']}"
        assert admin.ok("GET", at)["done_bytes"] == 3
        admin.ok("PATCH", at, params={"offset": 3}, content=b"defghi")
        admin.ok("POST", f"{at}/finish")
        answer = admin.call("GET", "/storages/home/content", params={"path": "d/file"})
        assert answer.content == b"abcdefghi"


def test_an_upload_whose_part_is_gone_is_gone(tmp_path: Path) -> None:
    clock, home = FakeClock(), tmp_path / "home"
    upload = begin(home, clock)
    (part,) = home.glob(f"storages/home/*/.footplate/{upload['id']}")
    part.write_bytes(b"a")
    with served(home, FakeEngine(clock, [NODE]), clock) as server, Api(server, server.sign_in()) as admin:
        at = f"{UPLOADS}/{upload['id']}"
        admin.refused("PATCH", at, 404, params={"offset": 3}, content=b"defghi")
