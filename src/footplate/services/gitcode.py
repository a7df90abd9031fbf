"""Fetches code from git repositories that jobs name, bounded in time and size, without the server's rights.

The address and what comes from there are a stranger's. git is told of no settings, logins, hooks or helpers,
speaks the protocol of the address only, follows no redirect and fetches no submodule. Where the server is
root, git runs as an account that owns nothing.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from footplate.domain.codefields import COMMIT
from footplate.domain.errors import InvalidInput
from footplate.store.blobs import MAX_ARCHIVE_BYTES, MAX_UNPACKED_BYTES

WITHIN_S = 120.0
MOST_CPU_S = 120
MOST_AT_ONCE = 2
MOST_TOLD = 300
NOBODY = 65534
CHUNK_BYTES = 1024**2
_LIMIT = shutil.which("prlimit")
_HEX = re.compile(COMMIT)
_SETTINGS = ("http.followRedirects=false", "core.hooksPath=/dev/null", "credential.helper=")
_CHOSEN = tuple(word for setting in _SETTINGS for word in ("-c", setting))


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a repository had: an archive, and the commit that it is."""

    archive: Path
    commit: str


class Repositories:
    """Fetches commits; `sources` are the beginnings of addresses that the server may be asked to fetch."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = tuple(sources)
        self._room = asyncio.Semaphore(MOST_AT_ONCE)

    def check(self, address: str) -> None:
        """Raise `InvalidInput` for an address that the server does not fetch from."""
        parts = urlsplit(address)
        is_named = any(address.startswith(source) for source in self._sources)
        if not is_named or "@" in parts.netloc or not (parts.hostname or parts.scheme == "file"):
            raise InvalidInput("git_not_allowed", "code.git", sources=list(self._sources))

    @asynccontextmanager
    async def fetch(self, address: str, name: str) -> AsyncIterator[Fetched]:
        """Fetch a commit, a branch or a tag; the archive is there as long as the context lasts."""
        self.check(address)
        if shutil.which("git") is None:
            raise InvalidInput("git_missing", "code.git")
        async with self._room:
            folder = await asyncio.to_thread(_new_folder)
            try:
                yield await asyncio.to_thread(_Git(folder, address).fetch, name)
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


class _Git:
    """One fetch into a folder that is made for it, with all that git is told for that."""

    def __init__(self, folder: Path, address: str) -> None:
        self._folder, self._address = folder, address
        self._repository = folder / "repository"
        self._ends_at = time.monotonic() + WITHIN_S

    def fetch(self, name: str) -> Fetched:
        archive = self._folder / "code.tar"
        self._run(self._folder, "init", "-q", "--bare", str(self._repository))
        commit = self._get_commit(name or "HEAD")
        self._run(self._repository, "archive", "--format=tar", "-o", str(archive), commit)
        return Fetched(archive, commit)

    def _get_commit(self, wanted: str) -> str:
        try:
            self._get(wanted, "--depth=1")
            return self._resolve("FETCH_HEAD")
        except InvalidInput:
            if not re.fullmatch(r"[0-9a-f]{7,64}", wanted):
                raise
        # Many servers hand out only what a branch or a tag names.
        self._get("+refs/heads/*:refs/heads/*", "--tags")
        return self._resolve(wanted)

    def _get(self, wanted: str, *options: str) -> None:
        plain = ("-q", "--no-recurse-submodules", "--no-write-commit-graph", *options)
        self._run(self._repository, "fetch", *plain, "--", self._address, wanted)

    def _resolve(self, name: str) -> str:
        found = self._run(self._repository, "rev-parse", "--verify", f"{name}^{{commit}}").strip()
        if not _HEX.fullmatch(found):
            raise InvalidInput("git_failed", "code.git", error=found[:MOST_TOLD])
        return found

    def _run(self, folder: Path, *words: str) -> str:
        """Run git; raise `InvalidInput` with what it said when it fails."""
        limits = (
            (_LIMIT, f"--fsize={MAX_UNPACKED_BYTES}", f"--cpu={MOST_CPU_S}", "--core=0") if _LIMIT else ()
        )
        account = NOBODY if os.geteuid() == 0 else None
        with subprocess.Popen(  # noqa: S603  # words that were checked, behind `--`
            [*limits, "git", *_CHOSEN, *words],
            cwd=folder,
            env=_environment(self._folder, self._address),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=account,
            group=account,
            extra_groups=None if account is None else [],
        ) as process:
            try:
                told, _ = process.communicate(timeout=max(0.1, self._ends_at - time.monotonic()))
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise InvalidInput("git_too_slow", "code.git", seconds=WITHIN_S) from None
        text = told.decode("utf-8", "replace")
        if process.returncode != 0:
            why = _last(text) or f"exit code {process.returncode}"
            raise InvalidInput("git_failed", "code.git", error=why)
        return text


def _environment(folder: Path, address: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "GIT_ALLOW_PROTOCOL": urlsplit(address).scheme,
        **{name: os.environ[name] for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ},
    }


def _last(text: str) -> str:
    lines = [line.removeprefix("fatal: ") for line in text.splitlines() if line.strip()]
    return lines[-1][:MOST_TOLD] if lines else ""


def _new_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="footplate-git-"))
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    return folder


async def chunks_of(archive: Path) -> AsyncIterator[bytes]:
    """Read an archive piece by piece, no further than the most that code may be."""
    with archive.open("rb") as file:
        left = MAX_ARCHIVE_BYTES + 1
        while left > 0 and (chunk := await asyncio.to_thread(file.read, min(CHUNK_BYTES, left))):
            left -= len(chunk)
            yield chunk
