"""Web servers as storages: read by ranges, never written to."""

from __future__ import annotations

import functools
import http.server
import io
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.storages.ranged import READ_AHEAD_BYTES
from footplate.storages.web import WebFiles


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Python's own server, which knows no ranges; with a token for what lies in `private`."""

    def log_message(self, *_: object) -> None:
        pass

    def send_head(self) -> io.BytesIO | None:
        if self.path.startswith("/private") and self.headers.get("Authorization") != "Bearer right":
            self.send_error(403)
            return None
        if self.path.startswith("/broken"):
            self.send_error(500)
            return None
        return super().send_head()  # type: ignore[return-value]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "a b").mkdir()
    (tmp_path / "private").mkdir()
    (tmp_path / "a b" / "ü").write_bytes(b"0123456789")
    (tmp_path / "private" / "x").write_bytes(b"private")
    handler = functools.partial(Quiet, directory=str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_files_are_found_and_read_by_ranges_even_from_a_server_that_knows_none(address: str) -> None:
    files = WebFiles(address, {})
    entry = files.stat("a b/ü")
    assert (entry.name, entry.size_bytes) == ("ü", 10)
    assert entry.modified_at is not None
    source = files.open("a b/ü")
    assert [source.read(offset, 4) for offset in (4, 0, 8, 10)] == [b"4567", b"0123", b"89", b""]


def test_large_files_come_in_few_requests(address: str, tmp_path: Path) -> None:
    content = bytes(range(256)) * (READ_AHEAD_BYTES // 256 + 5)
    (tmp_path / "large").write_bytes(content)
    source, held = WebFiles(address, {}).open("large"), bytearray()
    while piece := source.read(len(held), 1024**2):
        held += piece
    assert bytes(held) == content


def test_what_the_server_refuses_is_told_as_files_tell_it(address: str) -> None:
    files = WebFiles(address, {})
    with pytest.raises(FileNotFoundError):
        files.stat("none")
    with pytest.raises(PermissionError):
        files.open("private/x")
    with pytest.raises(OSError, match="status 500"):
        files.stat("broken")
    with pytest.raises(OSError, match="does not answer"):
        WebFiles("http://127.0.0.1:1/", {}).stat("x")
    assert WebFiles(address, {"token": "right"}).open("private/x").read(0, 10) == b"private"


def test_it_is_neither_listed_nor_written_to(address: str) -> None:
    files = WebFiles(address, {})
    for ask in (
        lambda: files.page("", "", 10),
        lambda: files.part("0" * 32, is_new=True),
        lambda: files.make_folder("x"),
        lambda: files.remove("x", recursive=True),
    ):
        with pytest.raises(io.UnsupportedOperation):
            ask()
