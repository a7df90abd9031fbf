"""Serves SSH: people come with their keys, and name a task: `ssh JOB.worker-0@host`."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import asyncssh

from footplate.domain.errors import Denied, FootplateError
from footplate.domain.messages import say
from footplate.server.ssh.sessions import Entered, forward, talk
from footplate.server.ssh.taskports import Behind
from footplate.services import sshkeys
from footplate.services.access import Caller
from footplate.services.accounts import Accounts
from footplate.services.entering import enter, find_enterable, note_refusal
from footplate.services.jobs import find
from footplate.services.platform import Platform
from footplate.store import ssh_key_queries
from footplate.store.ssh_key_queries import SshKey

LOOPBACK = ("localhost", "127.0.0.1", "::1")
LOGIN_S = 30
ALIVE_S = 30

# Who enters what is in the audit trail; a line for each message would only hide it.
asyncssh.set_log_level("WARNING")


async def talk_to(
    client: socket.socket,
    platform: Platform,
    accounts: Accounts,
    key: asyncssh.SSHKey,
    sign_in: Callable[[], None],
    behind: Behind | None = None,
) -> None:
    """Serve one connection until its end; `sign_in` is called once it is known whose it is.

    `behind` is the task that the port alone leads to.
    """
    connection = await asyncssh.run_server(
        client,
        server_factory=lambda: Door(platform, accounts, behind),
        server_host_keys=[key],
        encoding=None,
        line_editor=False,
        allow_scp=False,
        agent_forwarding=False,
        x11_forwarding=False,
        login_timeout=LOGIN_S,
        keepalive_interval=ALIVE_S,
        server_version="Footplate",
    )
    sign_in()
    try:
        await connection.wait_closed()
    finally:
        connection.abort()


def read_key(file: Path) -> asyncssh.SSHKey:
    return asyncssh.read_private_key(str(file))


class _Session(asyncssh.SSHServerProcess[bytes]):
    """A session whose SFTP is served in the task, as commands are, and not by the library from here."""

    def __init__(self, door: Door) -> None:
        super().__init__(self._begin, None, 3, False)
        self._door = door

    async def _begin(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        await talk(process, self._door.platform, self._door.enter, self._door.find)

    def subsystem_requested(self, subsystem: str) -> bool:
        return subsystem == "sftp"

    def session_started(self) -> None:
        channel = self._chan
        errors = asyncssh.SSHWriter[bytes](self, channel, asyncssh.EXTENDED_DATA_STDERR)
        reader, writer = asyncssh.SSHReader[bytes](self, channel), asyncssh.SSHWriter[bytes](self, channel)
        begun = self._start_process(reader, writer, errors)
        assert begun is not None
        channel.get_connection().create_task(begun, channel.logger)


class Door(asyncssh.SSHServer):
    """One connection: who comes is known by the key, where they want to go by the name or by the port."""

    def __init__(self, platform: Platform, accounts: Accounts, behind: Behind | None = None) -> None:
        self.platform = platform
        self._accounts = accounts
        self._behind = behind
        self._wanted = ""
        self._key: SshKey | None = None

    def begin_auth(self, username: str) -> bool:
        self._wanted = username
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:  # noqa: ARG002  # kept
        """Accept the keys of everybody: whether they may enter is decided, and noted, once they are known."""
        try:
            found = await sshkeys.find(self.platform, key.public_data)
            self._key = found or await self._key_of_file(key.public_data)
        except FootplateError:
            return False
        return self._key is not None

    async def _key_of_file(self, blob: bytes) -> SshKey | None:
        """The key, if the file of the job names it: then it is the owner's, for this job alone."""
        if self._behind is None:
            return None
        job = await self.platform.store.job(self._behind.job_id)
        return None if job is None else sshkeys.of_file(job, blob)

    def session_requested(self) -> Any:
        return _Session(self)

    async def enter(self) -> Entered:
        """Find the task, and note that the key was used."""
        found = await self.find()
        assert self._key is not None
        if not self._key.is_of_file:
            await sshkeys.touch(self.platform, self._key)
        return found

    async def find(self) -> Entered:
        """Find the task, as the owner of the key may; asked anew all the time, as rights change."""
        assert self._key is not None
        # A key that was removed meanwhile opens nothing more.
        key = self._key
        if not key.is_of_file:
            found = await self.platform.store.read(
                lambda connection: ssh_key_queries.find(connection, key.id)
            )
            if found is None:
                raise Denied("ssh_key_unknown", key=key.fingerprint)
        caller = await self._accounts.caller_named(key.user)
        name, task = await self._where(caller)
        asked = await find_enterable(self.platform, caller, name, "ssh")
        if key.job_id not in ("", asked.id):
            await note_refusal(self.platform, caller, asked, "ssh")
            raise Denied("ssh_key_of_other_job", job=key.job_id)
        job, role, index = await enter(self.platform, caller, name, task, "ssh")
        return caller, job, role, index

    async def _where(self, caller: Caller) -> tuple[str, str | None]:
        """Take `JOB.worker-0` apart; names of jobs may have dots of their own. A port says it by itself."""
        if self._behind is not None:
            return self._behind.job_id, self._behind.task
        name, dot, task = self._wanted.rpartition(".")
        if not dot:
            return self._wanted, None
        try:
            await find(self.platform, caller, self._wanted)
        except FootplateError:
            return name, task
        return self._wanted, None

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> Any:  # noqa: ARG002  # as the library calls it
        """Forward ports of the task's own loopback, and nothing else."""
        if dest_host not in LOOPBACK:
            raise asyncssh.ChannelOpenError(
                asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED,
                str(say("ssh_forwards_localhost")),
            )
        return partial(forward, self.platform, self.enter, self.find, dest_port)
