"""Files in and out: buckets into jobs, large files and many small ones over loopback, each beside its peer.

`FOOTPLATE_BENCH_SCALE=0.02` makes all of them small, to see that they run.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import psutil

from benchmarks.client import token_of
from benchmarks.report import Row
from footplate.domain.storage import Storage, StorageKind
from footplate.engines.local.data.settings import DataSettings
from footplate.engines.local.data.staging import Staging
from footplate.sdk import codecache
from footplate.storages.base import Files
from footplate.testing.bucket import KEY
from footplate.testing.process import FOOTPLATE, ServerProcess, await_that, free_port

SCALE = float(os.environ.get("FOOTPLATE_BENCH_SCALE", "1"))
MB = 10**6
N_CUTS = 5


def scaled(amount: float) -> int:
    return max(1, int(amount * SCALE))


def run(folder: Path) -> list[Row]:
    rows = [stage_from_bucket(folder)]
    with ServerProcess(folder / "files-home") as server:
        rows += large_file(server, folder)
        rows.append(small_files(server, folder))
        rows.append(cut_upload(server, folder))
        rows.append(long_folder(server))
        rows.append(resubmit(server, folder))
    return rows


def timed(work: Callable[[], Any]) -> float:
    began_at = time.monotonic()
    work()
    return time.monotonic() - began_at


# A bucket into a job


def stage_from_bucket(folder: Path) -> Row:
    """Both fetch one large object from a server that is as fast as its disk: those for tests are not."""
    import boto3

    from footplate.storages.s3 import open_bucket

    size = scaled(1000 * MB)
    with nginx(folder / "buckets") as url:
        (folder / "buckets" / "nginx" / "files" / "bench").mkdir()
        _random_file(folder / "buckets" / "nginx" / "files" / "bench" / "object", size)
        client = boto3.client(
            "s3",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id=KEY["access_key_id"],
            aws_secret_access_key=KEY["secret_access_key"],
        )
        storage = Storage("bench", kind=StorageKind.S3, endpoint=url, bucket="bench")
        files = open_bucket(storage, KEY, folder / "spool")

        def by_boto3() -> None:
            client.download_file("bench", "object", str(folder / "by-boto3"))

        by_boto3()
        peer_s = timed(by_boto3)
        ours_s = timed(lambda: _stage(folder, storage, files))
        peer_s = min(peer_s, timed(by_boto3))
    return Row(
        f"data of a bucket is brought to a job ({size / MB:.0f} MB)",
        f"{size / MB / ours_s:.0f} MB/s",
        "0.7 of boto3",
        f"boto3 {size / MB / peer_s:.0f} MB/s",
        ours_s * 0.7 <= peer_s,
    )


def _stage(folder: Path, storage: Storage, files: Files) -> None:
    staging = Staging(folder / "staging-home", DataSettings(), lambda _step: None)

    async def find(_attempt_id: str, _name: str) -> tuple[Storage, Files]:
        return storage, files

    staging.use_storages(find)
    mount = {"source": "", "inner": "object", "is_fixed": True, "target": "/data", "read_only": True}
    request: Any = {"attempt_id": "bench.0", "mounts": [{**mount, "staged": "bench"}]}
    asyncio.run(staging.provide(request))


# A large file over loopback


def large_file(server: ServerProcess, folder: Path) -> list[Row]:
    size = scaled(2000 * MB)
    file = _random_file(folder / "large", size)
    header = ["-H", f"Authorization: Bearer {token_of(server)}"]
    ours = f"{server.url}/api/v1/storages/home/content?path=large"
    with nginx(folder) as theirs:
        up_s = timed(lambda: _curl(*header, "-T", str(file), ours))
        their_up_s = timed(lambda: _curl("-T", str(file), f"{theirs}/large"))
        down_s = timed(lambda: _curl(*header, ours))
        their_down_s = timed(lambda: _curl(f"{theirs}/large"))
    return [
        Row(
            f"a file goes {way} over loopback ({size / MB:.0f} MB)",
            f"{size / MB / seconds:.0f} MB/s",
            "half of nginx",
            f"nginx {size / MB / their_s:.0f} MB/s",
            seconds <= 2 * their_s,
        )
        for way, seconds, their_s in (("up", up_s, their_up_s), ("down", down_s, their_down_s))
    ]


def _curl(*words: str) -> None:
    subprocess.run(["curl", "-sS", "--fail", "-o", os.devnull, *words], check=True)


@contextmanager
def nginx(folder: Path) -> Iterator[str]:
    """A web server that takes and hands out files, as ours does."""
    program = shutil.which("nginx")
    if program is None:
        raise SystemExit("this benchmark needs nginx: apt-get install nginx-light")
    port, root = free_port(), folder / "nginx"
    (root / "files").mkdir(parents=True)
    settings = root / "nginx.conf"
    settings.write_text(
        f"user root; daemon off; error_log {root}/error.log; pid {root}/pid; events {{}}\n"
        f"http {{ access_log off; client_max_body_size 0; client_body_temp_path {root}/body; sendfile on;\n"
        f"server {{ listen 127.0.0.1:{port}; root {root}/files; location / {{ dav_methods PUT; }} }} }}\n"
    )
    with subprocess.Popen([program, "-c", str(settings)], stderr=subprocess.DEVNULL) as process:
        try:
            await_that(lambda: _listens(port))
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _listens(port: int) -> bool:
    try:
        httpx.get(f"http://127.0.0.1:{port}/", trust_env=False)
    except httpx.HTTPError:
        return False
    return True


# Many small files


def small_files(server: ServerProcess, folder: Path) -> Row:
    n_files = scaled(20_000)
    source = folder / "small"
    for number in range(n_files):
        place = source / f"{number // 500:03}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number:06}.txt").write_bytes(os.urandom(1024))
    words = [FOOTPLATE, "cp", str(source), "home:"]
    ours_s = timed(lambda: subprocess.run(words, env=server.environment, check=True, capture_output=True))
    with rsync_server(folder) as address:
        theirs_s = timed(lambda: subprocess.run(["rsync", "-a", str(source), address], check=True))
    return Row(
        f"{n_files:,} files of 1 KB go up over loopback",
        f"{n_files / ours_s:.0f} files/s",
        "half of rsync",
        f"rsync {n_files / theirs_s:.0f} files/s",
        ours_s <= 2 * theirs_s,
    )


@contextmanager
def rsync_server(folder: Path) -> Iterator[str]:
    port, root = free_port(), folder / "rsync"
    (root / "files").mkdir(parents=True)
    settings = root / "rsyncd.conf"
    settings.write_text(f"[files]\npath = {root}/files\nread only = no\nuse chroot = no\nuid = 0\ngid = 0\n")
    words = ["rsync", "--daemon", "--no-detach", f"--port={port}", "--address=127.0.0.1"]
    with subprocess.Popen([*words, f"--config={settings}"], stderr=subprocess.DEVNULL) as process:
        address = f"rsync://127.0.0.1:{port}/files/"
        try:
            await_that(
                lambda: subprocess.run(["rsync", address], capture_output=True, check=False).returncode == 0
            )
            yield address
        finally:
            process.terminate()


# An upload that is cut


def cut_upload(server: ServerProcess, folder: Path) -> Row:
    """Kill the command that uploads, time and again; each goes on where the one before was cut."""
    size = scaled(5000 * MB)
    file = _random_file(folder / "cut", size)
    words = [FOOTPLATE, "cp", str(file), "home:"]
    process, most_bytes = psutil.Process(server.pid), 0
    begun_bytes = process.memory_info().rss
    (home,) = (server.home / "storages" / "home").glob("admin-*")
    for number in range(N_CUTS):
        with subprocess.Popen(words, env=server.environment, stdout=subprocess.DEVNULL) as upload:
            until_bytes = size * (number + 1) // (N_CUTS + 2)
            while upload.poll() is None and _largest(home / ".footplate") < until_bytes:
                most_bytes = max(most_bytes, process.memory_info().rss)
                time.sleep(0.02)
            upload.send_signal(signal.SIGKILL)
    last = subprocess.Popen(words, env=server.environment, stdout=subprocess.DEVNULL)
    while last.poll() is None:
        most_bytes = max(most_bytes, process.memory_info().rss)
        time.sleep(0.02)
    is_whole = _digest(home / "cut") == _digest(file)
    n_left = len(list((home / ".footplate").iterdir()))
    grown = (most_bytes - begun_bytes) / MB
    return Row(
        f"an upload of {size / MB:.0f} MB that is cut {N_CUTS} times arrives once, whole",
        f"{'whole' if is_whole else 'damaged'}, {n_left} parts left, the server grew by {grown:.0f} MB",
        "whole, none left, 64 MB",
        "",
        is_whole and n_left == 0 and grown < 64,
    )


def _largest(parts: Path) -> int:
    try:
        return max((part.stat().st_size for part in parts.iterdir()), default=0)
    except FileNotFoundError:
        return 0


# A long folder


def long_folder(server: ServerProcess) -> Row:
    n_files = scaled(100_000)
    (home,) = (server.home / "storages" / "home").glob("admin-*")
    (home / "many").mkdir()
    for number in range(n_files):
        (home / "many" / f"{number:07}").touch()
    # As a folder that nobody has just written to: else its names are read anew for each page.
    os.utime(home / "many", (time.time() - 60,) * 2)
    seen = []
    with server.client() as client:
        after = ""
        for _ in range(20):
            params = {"path": "many", "limit": 200, **({"page_token": after} if after else {})}
            began_at = time.monotonic()
            answer = client.get("/storages/home/entries", params=params)
            seen.append(time.monotonic() - began_at)
            assert answer.is_success, answer.text
            after = answer.json().get("next_page_token") or ""
    return Row(
        f"a page of a folder with {n_files:,} entries",
        f"{1000 * sorted(seen)[-2]:.0f} ms",
        "100 ms",
        "",
        sorted(seen)[-2] < 0.1,
    )


# Code that has changed a little


def resubmit(server: ServerProcess, folder: Path) -> Row:
    """Submit a folder, change one line, and submit it again: each until its first line of output is seen."""
    code = folder / "code"
    code.mkdir()
    _random_file(code / "weights", size := scaled(20 * MB))
    # What was changed a moment ago may change again without a sign of it, and would be sent again.
    time.sleep(2 * codecache.FRESH_S)
    environment = {**server.environment, "XDG_CACHE_HOME": str(folder / "cache")}

    def until_output(text: str) -> float:
        (code / "train.py").write_text(f"print('{text}')\n")
        words = [FOOTPLATE, "submit", "--name", text, "--cpus", "0.5", "--follow"]
        began_at = time.monotonic()
        with subprocess.Popen(
            [*words, "--code", str(code), "--", "cat", "train.py"],
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            assert process.stdout is not None
            assert any(text in line for line in process.stdout), "the job printed nothing"
            return time.monotonic() - began_at

    first_s = until_output("first")
    again_s = median(until_output(f"again-{number}") for number in range(3))
    return Row(
        f"a job with {size / MB:.0f} MB of code, one line of it changed: command to first line of output",
        f"{again_s:.2f} s",
        "2 s",
        f"the first time {first_s:.2f} s",
        again_s < 2,
    )


def _random_file(path: Path, size: int) -> Path:
    block = os.urandom(16 * MB)
    with path.open("wb") as out:
        while (left := size - out.tell()) > 0:
            out.write(block[:left])
    return path


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
