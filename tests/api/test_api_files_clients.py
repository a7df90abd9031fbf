"""The SDK and the command with files of a real server, over connections that break."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from apiclient import Api, fresh

from footplate.cli.main import run
from footplate.domain.errors import Conflict, Denied, InvalidInput, NotFound
from footplate.sdk import smallfiles, uploading
from footplate.sdk.client import Client
from footplate.sdk.storage import Storage
from footplate.sdk.uploading import Progress
from footplate.testing.server import Served


@pytest.fixture
def client(server: Served, ann: Api) -> Iterator[Client]:
    with Client(server.url, ann.token) as client:
        yield client


@pytest.fixture
def home(client: Client) -> Storage:
    return client.storage("home")


@pytest.fixture
def local(tmp_path: Path) -> Path:
    folder = tmp_path / "set"
    (folder / "deep" / "er").mkdir(parents=True)
    for name in ("a", "ü b", "deep/1", "deep/er/2"):
        (folder / name).write_text(name)
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_goes_up_and_comes_back_the_same(home: Storage, local: Path, tmp_path: Path) -> None:
    (local / "loop").symlink_to(".")
    (local / "large").write_bytes(os.urandom(smallfiles.SMALL_BYTES + 1))
    seen: list[tuple[int, int]] = []
    skipped: list[str] = []

    def tell(progress: Progress) -> None:
        seen.append((progress.done_bytes, progress.total_bytes))
        skipped[:] = progress.skipped

    top = fresh("up")
    assert home.upload(local, f"{top}/", on_progress=tell) == f"{top}/set"
    assert seen[-1][0] == seen[-1][1] == sum(map(len, contents(local).values()))
    assert skipped == [str(local / "loop")]
    (local / "loop").unlink()
    back = home.download(f"{top}/set", tmp_path / "back")
    assert contents(back) == contents(local)
    assert [os.access(path, os.X_OK) for path in (back / "run.sh", back / "a")] == [True, False]
    assert home.usage(top)["n_files"] == 6


def test_a_file_goes_where_it_is_told_to(home: Storage, local: Path) -> None:
    top = fresh("up")
    assert home.upload(local / "a", f"{top}/x") == f"{top}/x"
    assert home.upload(local / "a", f"{top}/") == f"{top}/a"
    assert home.upload(local / "a", top) == f"{top}/a"
    assert [one["name"] for one in home.entries(top)] == ["a", "x"]


def test_what_comes_again_replaces_is_refused_or_gets_a_folder_of_its_own(home: Storage, local: Path) -> None:
    top = fresh("up")
    places = [home.upload(local, f"{top}/", if_exists="subfolder") for _ in range(3)]
    assert places == [f"{top}/set", f"{top}/2/set", f"{top}/3/set"]
    with pytest.raises(Conflict):
        home.upload(local, f"{top}/", if_exists="refuse")
    with pytest.raises(Conflict):
        home.upload(local / "a", f"{top}/set/a", if_exists="refuse")
    assert home.upload(local / "a", f"{top}/set/a", if_exists="subfolder") == f"{top}/set/2/a"


def test_files_are_opened_as_python_opens_them(home: Storage) -> None:
    path = fresh("opened")
    with home.open(path, "w") as out:
        out.write("first\nzweite ü\n")
    with home.open(path) as text:
        assert list(text) == ["first\n", "zweite ü\n"]
    with home.open(path, "rb") as raw:
        raw.seek(-3, os.SEEK_END)
        assert raw.read() == "ü\n".encode()
        raw.seek(2)
        assert raw.read(3) == b"rst"
    with pytest.raises(UnicodeEncodeError), home.open(path, "w") as out:
        out.write("half" + "\ud800")
    assert home.read_bytes(path).startswith(b"first")
    with home.open(path, "wb") as large:
        for _ in range(9):
            large.write(b"x" * 1024**2)
    assert home.stat(path)["size_bytes"] == 9 * 1024**2
    with pytest.raises(InvalidInput):
        home.open(path, "a")
    with pytest.raises(NotFound):
        home.open("none")


class CuttingProxy:
    """Passes connections on, and cuts each after so many bytes from the client or from the server."""

    def __init__(self, server: Served, cuts: list[int], counts_answers: bool = False) -> None:
        self._target = ("127.0.0.1", int(server.url.rpartition(":")[2]))
        self._cuts, self._counts_answers = cuts, counts_answers
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.n_cut = 0
        self._thread = threading.Thread(target=self._serve)
        self._threads: list[threading.Thread] = []
        self._thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
                for source, sink, is_answer in ((near, far, False), (far, near, True)):
                    thread = threading.Thread(target=self._pass, args=(source, sink, is_answer))
                    self._threads.append(thread)
                    thread.start()

    def _pass(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        n_bytes = 0
        with suppress(OSError):
            while data := source.recv(1 << 16):
                n_bytes += len(data)
                if is_answer is self._counts_answers and self._cuts and n_bytes > self._cuts[0]:
                    self._cuts.pop(0)
                    self.n_cut += 1
                    break
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        for thread in self._threads:
            thread.join()


Cutting = Callable[..., CuttingProxy]


@pytest.fixture
def cutting(server: Served) -> Iterator[Cutting]:
    made: list[CuttingProxy] = []

    def make(cuts: list[int], **more: bool) -> CuttingProxy:
        made.append(CuttingProxy(server, cuts, **more))
        return made[-1]

    yield make
    for proxy in made:
        proxy.close()


def test_an_upload_that_is_cut_five_times_arrives_once_and_whole(
    ann: Api, home: Storage, cutting: Cutting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploading, "PIECE_BYTES", 4 * 1024**2)
    file, path = tmp_path / "large", fresh("large")
    file.write_bytes(os.urandom(24 * 1024**2 + 17))
    proxy = cutting([1024**2, 9 * 1024**2, 3 * 1024**2, 1024**2 // 2, 5 * 1024**2])
    with Client(proxy.url, ann.token) as client:
        assert client.storage("home").upload(file, path) == path
    assert proxy.n_cut == 5
    digest = hashlib.sha256(home.read_bytes(path)).hexdigest()
    assert digest == hashlib.sha256(file.read_bytes()).hexdigest()
    assert ann.ok("GET", "/storages/home/uploads")["items"] == []


def test_an_upload_that_was_given_up_goes_on_with_the_next_try(
    ann: Api, home: Storage, cutting: Cutting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploading, "PIECE_BYTES", 2 * 1024**2)
    file, path = tmp_path / "large", fresh("large")
    file.write_bytes(os.urandom(9 * 1024**2))

    class Interrupted(Exception):
        pass

    def interrupt(progress: Progress) -> None:
        if progress.done_bytes >= 6 * 1024**2:
            raise Interrupted

    with pytest.raises(Interrupted):
        home.upload(file, path, on_progress=interrupt)
    first: list[int] = []
    home.upload(file, path, on_progress=lambda progress: first.append(progress.done_bytes))
    assert first[0] == 6 * 1024**2
    assert home.read_bytes(path) == file.read_bytes()


def test_a_download_that_is_cut_goes_on_where_it_was(
    ann: Api, home: Storage, cutting: Cutting, tmp_path: Path
) -> None:
    path, content = fresh("large"), os.urandom(6 * 1024**2)
    home.write_bytes(path, content)
    proxy = cutting([2 * 1024**2, 3 * 1024**2], counts_answers=True)
    with Client(proxy.url, ann.token) as client:
        got = client.storage("home").download(path, tmp_path / "got")
    assert proxy.n_cut == 2
    assert got.read_bytes() == content
    assert [one.name for one in tmp_path.iterdir()] == ["got"]


def test_a_folder_whose_download_is_cut_comes_whole(
    ann: Api, home: Storage, cutting: Cutting, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    (source / "deep" / "empty").mkdir(parents=True)
    for number in range(30):
        (source / "deep" / str(number)).write_bytes(os.urandom(100_000))
    top = home.upload(source, fresh("folder"))
    home.make_folder(f"{top}/deep/empty")
    proxy = cutting([1024**2], counts_answers=True)
    with Client(proxy.url, ann.token) as client:
        got = client.storage("home").download(top, tmp_path / "got")
    assert proxy.n_cut == 1
    assert contents(got) == contents(source)
    assert (got / "deep" / "empty").is_dir()


def test_sdk_errors_are_those_of_the_server(client: Client) -> None:
    with pytest.raises(NotFound):
        list(client.storage("none").entries())
    with pytest.raises(NotFound):
        client.storage("home").stat("none")
    with pytest.raises(InvalidInput):
        client.storage("home").stat("../x")
    with pytest.raises(Denied):
        client.add_storage("mine", path="/srv/x")


Command = Callable[..., str]


@pytest.fixture
def footplate(
    server: Served, ann: Api, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    monkeypatch.setenv("FOOTPLATE_URL", server.url)
    monkeypatch.setenv("FOOTPLATE_TOKEN", ann.token)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    def call(*arguments: object, code: int = 0) -> str:
        assert run([str(argument) for argument in arguments]) == code
        told = capfd.readouterr()
        return told.out if code == 0 else told.err

    return call


def test_the_command_copies_lists_measures_moves_prints_and_deletes(
    footplate: Command, local: Path, tmp_path: Path
) -> None:
    top = fresh("cli")
    assert f"Copied {local} to home:{top}/set (" in footplate("cp", local, f"home:{top}/")
    assert [line.split()[-1] for line in footplate("ls", f"home:{top}/set").splitlines()] == [
        "NAME",
        "a",
        "deep/",
        "run.sh",
        "b",
    ]
    assert footplate("cat", f"home:{top}/set/a", f"home:{top}/set/deep/1") == "adeep/1"
    assert "in 5 files in" in footplate("du", f"home:{top}")
    footplate("mkdir", f"home:{top}/new/folder")
    footplate("mv", f"home:{top}/set/a", f"home:{top}/new")
    footplate("cp", f"home:{top}/new/a", f"home:{top}/set/deep", f"shared:{top}/")
    assert footplate("cat", f"shared:{top}/a") == "a"
    footplate("cp", f"shared:{top}/deep", tmp_path / "out")
    assert contents(tmp_path / "out") == {"1": b"deep/1", "er/2": b"deep/er/2"}
    assert "is not empty" in footplate("rm", "-y", f"home:{top}", code=1)
    footplate("rm", "-r", "-y", f"home:{top}")
    assert "has no" in footplate("ls", f"home:{top}", code=1)


def test_the_command_says_what_is_wrong_with_a_place(footplate: Command, tmp_path: Path) -> None:
    assert "write STORAGE:PATH" in footplate("ls", "somewhere", code=2)
    assert "write one as STORAGE:PATH" in footplate("cp", tmp_path, tmp_path / "x", code=2)
    assert "there is no local file" in footplate("cp", tmp_path / "none", "home:", code=2)
    assert "footplate storages" in footplate("ls", "nowhere:x", code=1)


def test_an_admin_keeps_storages_by_command(
    footplate: Command, server: Served, admin: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTPLATE_TOKEN", admin.token)
    name = fresh("bucket")
    footplate(
        "storages",
        "add",
        name,
        "--kind",
        "s3",
        "--bucket",
        "b",
        "--endpoint",
        "http://127.0.0.1:1",
        "--public",
    )
    footplate("storages", "edit", name, "--quota", "2TB", "--writable", "--writer", "queue:default")
    (kept,) = [one for one in admin.ok("GET", "/storages")["items"] if one["name"] == name]
    assert (kept["quota_bytes"], kept["writers"], kept["is_private"]) == (
        2 * 1024**4,
        ["queue:default"],
        False,
    )
    assert name in footplate("storages")
    footplate("storages", "delete", "-y", name)
    assert name not in footplate("storages", "list")
