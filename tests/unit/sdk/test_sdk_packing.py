from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from footplate.domain.errors import InvalidInput, TooLarge
from footplate.sdk import packing
from footplate.sdk.client import Client
from footplate.sdk.packing import pack, select
from footplate.sdk.submission import prepare
from footplate.testing.fake_server import FakeServer, Reply, error, job


def folder(root: Path, **files: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def names(root: Path) -> set[str]:
    return {entry.name for entry in select(root).entries if not entry.path.is_dir() or entry.link_to}


def digest(root: Path) -> str:
    with pack(select(root)) as archive:
        return archive.digest


def test_the_same_files_give_the_same_bytes_in_whichever_order_they_were_written(tmp_path: Path) -> None:
    one = folder(tmp_path / "one", **{"a.py": "1", "sub/b.py": "2"})
    two = folder(tmp_path / "two", **{"sub/b.py": "2", "a.py": "1"})
    for root in (one, two):
        for name in ("a.py", "sub/b.py"):
            os.utime(root / name, (1_000, 1_000))
    assert digest(one) == digest(two)
    (two / "a.py").chmod(0o755)
    assert digest(one) != digest(two)


def test_an_archive_holds_contents_modes_and_links(tmp_path: Path) -> None:
    root = folder(tmp_path / "code", **{"run.sh": "echo hi", "sub/b.py": "2"})
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("sub/b.py")
    with pack(select(root)) as archive, tarfile.open(fileobj=archive.file) as tar:
        assert tar.getnames() == ["link", "run.sh", "sub", "sub/b.py"]
        assert tar.getmember("run.sh").mode == 0o755
        assert tar.getmember("link").linkname == "sub/b.py"
        content = tar.extractfile("run.sh")
        assert content is not None
        assert content.read() == b"echo hi"


def test_an_archive_keeps_the_times_of_files(tmp_path: Path) -> None:
    root = folder(tmp_path / "code", **{"old.py": "1"})
    os.utime(root / "old.py", (1_500_000_000, 1_500_000_000.7))
    with pack(select(root)) as archive, tarfile.open(fileobj=archive.file) as tar:
        assert tar.getmember("old.py").mtime == 1_500_000_000


@pytest.mark.parametrize("name", ["code.zip", "code.tar.gz", "CODE.TGZ"])
def test_an_archive_is_sent_as_it_is(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"an archive")
    selection = select(tmp_path / name)
    with pack(selection) as packed:
        assert packed.file.read() == b"an archive"
        assert packed.size_bytes == selection.size_bytes == 10


KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".env", "TOKEN=1"),
        ("sub/.env.local", "TOKEN=1"),
        ("id_ed25519", "x"),
        ("deploy.pem", KEY),
        ("tls.key", KEY),
        (".netrc", "machine x"),
        ("store.p12", "x"),
    ],
)
def test_what_may_hold_secrets_is_left_out_and_told(tmp_path: Path, name: str, text: str) -> None:
    root = folder(tmp_path / "code", **{"train.py": "", name: text})
    assert names(root) == {"train.py"}
    (told,) = select(root).left_out
    assert told.startswith(f"{name} (may hold secrets; ")
    base = name.rpartition("/")[2]
    folder(root, **{".footplateignore": f"!{base}\n"})
    assert names(root) == {"train.py", ".footplateignore", name}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".env.example", "TOKEN="),
        ("ca.pem", "-----BEGIN CERTIFICATE-----"),
        ("answer.key", "42"),
        ("environment.py", ""),
        (".envrc", "layout python"),
    ],
)
def test_what_only_looks_like_it_is_sent(tmp_path: Path, name: str, text: str) -> None:
    assert names(folder(tmp_path / "code", **{name: text})) == {name}


def test_links_that_lead_out_are_left_out_and_told(tmp_path: Path) -> None:
    root = folder(tmp_path / "code", **{"a.py": "1"})
    (root / "out").symlink_to("/etc/passwd")
    (root / "up").symlink_to("../other")
    (root / "absolute").symlink_to(root / "a.py")
    selection = select(root)
    assert {entry.name: entry.link_to for entry in selection.entries} == {"a.py": "", "absolute": "a.py"}
    assert [text.split()[0] for text in selection.left_out] == ["out", "up"]


def test_a_chain_of_links_that_leads_out_is_left_out(tmp_path: Path) -> None:
    root = folder(tmp_path / "code", **{"a.py": "1"})
    (root / "out").symlink_to("/etc")
    (root / "deep").symlink_to("out/passwd")
    assert names(root) == {"a.py"}


def test_pipes_and_sockets_are_left_out(tmp_path: Path) -> None:
    root = folder(tmp_path / "code", **{"a.py": "1"})
    os.mkfifo(root / "pipe")
    assert names(root) == {"a.py"}
    assert "pipe" in select(root).left_out[0]


def test_the_home_folder_of_a_server_is_never_sent(tmp_path: Path) -> None:
    home = tmp_path / "code" / "state"
    (home / "jobs").mkdir(parents=True)
    for name in ("secret", "lock"):
        (home / name).touch()
    (tmp_path / "code" / "train.py").touch()
    chosen = select(tmp_path / "code")
    assert [entry.name for entry in chosen.entries] == ["train.py"]
    assert chosen.left_out == ("state (the home folder of a server, with its secrets)",)
    with pytest.raises(InvalidInput, match="is the home folder of a server"):
        select(home)


def test_ignore_files_leave_things_behind(tmp_path: Path) -> None:
    root = folder(
        tmp_path / "code",
        **{
            ".gitignore": "*.log\n/data/\nbuild/\n# why\n\n!keep.log\ndocs/**/*.pdf\nq?.txt\n[ab].tmp",
            ".footplateignore": "notes.txt\n!special.log\n",
            "train.py": "",
            "x.log": "",
            "keep.log": "",
            "special.log": "",
            "sub/y.log": "",
            "data/big.bin": "",
            "sub/data/small.bin": "",
            "sub/build/o": "",
            "docs/a/b/c.pdf": "",
            "docs/a.txt": "",
            "q1.txt": "",
            "q12.txt": "",
            "a.tmp": "",
            "c.tmp": "",
            "notes.txt": "",
            ".git/config": "",
            ".venv/bin/python": "",
            "sub/__pycache__/x.pyc": "",
            "node_modules/x.js": "",
        },
    )
    assert names(root) == {
        ".gitignore",
        ".footplateignore",
        "train.py",
        "keep.log",
        "special.log",
        "sub/data/small.bin",
        "docs/a.txt",
        "q12.txt",
        "c.tmp",
    }


def test_a_folder_below_has_rules_of_its_own(tmp_path: Path) -> None:
    root = folder(
        tmp_path / "code",
        **{".gitignore": "*.bin", "sub/.gitignore": "!b.bin\n/c.py", "sub/b.bin": "", "sub/x/c.py": ""},
    )
    folder(root, **{"a.bin": "", "sub/c.py": "", "c.py": ""})
    assert names(root) == {".gitignore", "sub/.gitignore", "sub/b.bin", "sub/x/c.py", "c.py"}


def test_too_much_code_is_refused_with_size_limit_and_culprit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "MAX_CODE_BYTES", 1000)
    root = folder(tmp_path / "code", **{"a.py": "x" * 400, "big.bin": "x" * 4000})
    with pytest.raises(TooLarge, match=r"has 4.297KB in 2 files; at most 1000B.*big.bin.*footplateignore"):
        select(root)


def test_code_in_a_job_file_is_relative_to_the_file_and_sent_once(
    server: FakeServer, client: Client, tmp_path: Path
) -> None:
    root = folder(
        tmp_path / "code",
        **{"train.py": "print(1)", "job.yaml": "name: x\ncommand: python train.py\ncode: ."},
    )
    named = digest(root)
    server.on(f"HEAD /code/{named}", Reply(404), Reply(200))
    server.on("POST /code", Reply(201, {"upload": named, "size_bytes": 1}))
    server.on("POST /jobs", Reply(201, job()))
    client.submit(root / "job.yaml")
    client.submit(root / "job.yaml")
    assert [asked.json["code"] for asked in server.requests("POST /jobs")] == [{"upload": named}] * 2
    (sent,) = server.requests("POST /code")
    assert sent.headers["content-type"] == "application/gzip"
    assert sent.headers["x-content-sha256"] == named.removeprefix("sha256:")
    assert int(sent.headers["content-length"]) == len(sent.body)


def test_a_dry_run_uploads_nothing(server: FakeServer, client: Client, tmp_path: Path) -> None:
    root = folder(tmp_path / "code", **{"train.py": ""})
    server.on("POST /jobs/dry-run", {"config": {}, "would_start": True, "reason": {}, "request": {}})
    client.dry_run({"name": "x", "command": "true"}, root)
    client.dry_run({"name": "x", "command": "true"})
    assert [asked.path for asked in server.asked] == ["/jobs/dry-run"] * 2
    assert [asked.query for asked in server.asked] == [{"code_follows": ["true"]}, {}]
    assert server.asked[0].json["code"]["upload"].startswith("sha256:")


def test_an_upload_that_is_refused_says_why(server: FakeServer, client: Client, tmp_path: Path) -> None:
    root = folder(tmp_path / "code", **{"train.py": ""})
    server.on("POST /code", error("too_large", "no", 413, ("", "too large")))
    with pytest.raises(TooLarge, match="too large"):
        client.submit({"name": "x", "command": "true"}, root)


def test_a_code_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"code: .*missing does not exist"):
        prepare({"name": "x", "command": "true", "code": str(tmp_path / "missing")})


def test_one_file_can_be_the_code(tmp_path: Path) -> None:
    root = folder(tmp_path, **{"train.py": "print(1)"})
    assert [entry.name for entry in select(root / "train.py").entries] == ["train.py"]
