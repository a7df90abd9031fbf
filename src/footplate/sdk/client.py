"""The client: everything that the server offers, as Python calls."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import httpx

from footplate.domain.errors import Conflict, FootplateError, NotFound
from footplate.domain.jobname import next_free, stem_of
from footplate.sdk import settings as stored
from footplate.sdk.accounting import AccountingCalls
from footplate.sdk.alerts import AlertCalls
from footplate.sdk.choices import ChoiceCalls
from footplate.sdk.connection import Connection, read_in_chunks
from footplate.sdk.environments import EnvironmentCalls
from footplate.sdk.images import ImageCalls
from footplate.sdk.invites import InviteCalls
from footplate.sdk.job import Job
from footplate.sdk.loglines import LogLineCalls
from footplate.sdk.metrics import MetricCalls
from footplate.sdk.models import ModelCalls
from footplate.sdk.notebooks import NotebookCalls
from footplate.sdk.retention import RetentionCalls
from footplate.sdk.secrets import SecretCalls
from footplate.sdk.serversettings import SettingCalls
from footplate.sdk.ssh import SshKeyCalls
from footplate.sdk.storages import StorageCalls
from footplate.sdk.zones import with_zone

# What only a submit needs, YAML included, is loaded when there is one.
if TYPE_CHECKING:
    from footplate.sdk.packing import Archive, Selection
    from footplate.sdk.submission import Source, Submission

Data = dict[str, Any]
_NAME_TRIES = 5


class Client(
    SecretCalls,
    ImageCalls,
    ChoiceCalls,
    InviteCalls,
    EnvironmentCalls,
    StorageCalls,
    AccountingCalls,
    MetricCalls,
    ModelCalls,
    NotebookCalls,
    AlertCalls,
    LogLineCalls,
    RetentionCalls,
    SettingCalls,
    SshKeyCalls,
):
    """A user's connection to a Footplate server.

    With no arguments it finds server and credentials in the environment (as inside a job) or in the
    files that `footplate login` and `footplate up` leave.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        user: str | None = None,
        password: str | None = None,
        home: str | os.PathLike[str] | None = None,
        *,
        timeout_s: float = 30.0,
        give_up_s: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        def find() -> stored.Settings:
            return stored.find(url, token, user, password, home)

        self.settings = find()
        self._connection = Connection(self.settings, find, timeout_s, give_up_s, transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    @property
    def url(self) -> str:
        return self.settings.url

    # Jobs

    def submit(
        self,
        source: Source | Submission,
        code_dir: str | os.PathLike[str] | None = None,
        *,
        again: bool = False,
        **overrides: Any,
    ) -> Job:
        """Submit a job file or a job document, with its code; return as soon as it is safely queued.

        Overrides replace top-level fields; `parameters`, `env` and `secrets` are merged. With `again`, a
        name that is taken gets the next free number (`digits-2`). A repeated try never makes a second job.
        """
        submission = _prepared(source, code_dir, overrides)
        submission = self._upload(submission)
        for _ in range(_NAME_TRIES if again else 0):
            try:
                return self._create(submission.body)
            except Conflict as conflict:
                # A file of another system calls its name by another name.
                name = submission.document.get("name") or conflict.said.params.get("name")
                document = {**submission.document, "name": self.free_name(str(name))}
                submission = replace(submission, document=document)
        return self._create(submission.body)

    def _create(self, document: Mapping[str, Any]) -> Job:
        return Job(
            self._connection, self._connection.send("POST", "/jobs", document, key=os.urandom(16).hex())
        )

    def run(
        self,
        command: str | Sequence[str],
        code: str | os.PathLike[str] | None = ".",
        *,
        with_requirements: bool = True,
        **overrides: Any,
    ) -> Job:
        """Run a command with the folder `code`, as `footplate run` does; return as soon as it is queued.

        The packages that the folder's `requirements.txt` or `uv.lock` lists are installed, unless
        `with_requirements` is false. If the name is taken, the job gets the next free one.
        """
        from footplate.sdk.commands import prepare_command

        words = [command] if isinstance(command, str) else list(command)
        folder = None if code is None else os.fspath(code)
        submission = prepare_command(words, folder, overrides, with_requirements=with_requirements)
        return self.submit(submission, again=True)

    def dry_run(
        self, source: Source | Submission, code_dir: str | os.PathLike[str] | None = None, **overrides: Any
    ) -> Data:
        """Say what a submit would do, without doing it; nothing is uploaded."""
        submission = _prepared(source, code_dir, overrides)
        if submission.code is not None:
            submission = _with_code(submission, _digest(submission.code))
        params = {"code_follows": submission.code is not None or None}
        answer: Data = self._connection.send(
            "POST", "/jobs/dry-run", submission.body, is_repeatable=True, params=params
        )
        return answer

    def translate(self, text: str) -> Data:
        """Translate a job file of another system: the document, and what became of its fields."""
        answer: Data = self._connection.request(
            "POST", "/jobs/translate", content=text.encode(), headers={"Content-Type": "text/plain"}
        ).json()
        return answer

    def free_name(self, name: str) -> str:
        """Find the next free name of the form `name-2` among my jobs."""
        mine = self.jobs(search=stem_of(name), owner=self.whoami()["name"])
        return next_free(name, {job.name for job in mine})

    def jobs(
        self,
        *,
        queue: str | None = None,
        owner: str | None = None,
        state: str | Sequence[str] | None = None,
        search: str | None = None,
        tag: str | None = None,
        trash: bool = False,
        sort: str | None = None,
        limit: int | None = None,
    ) -> Iterator[Job]:
        """Yield jobs that match, newest first unless sorted otherwise; `limit` bounds how many in all."""
        filters = {"queue": queue, "owner": owner, "state": state, "search": search, "tag": tag, "sort": sort}
        filters["trash"] = "true" if trash else None
        left, page_token = limit, None
        while left is None or left > 0:
            page = self._connection.fetch(
                "/jobs", **filters, limit=min(left or 200, 200), page_token=page_token
            )
            for item in page["items"][:left]:
                yield Job(self._connection, item)
            left = None if left is None else left - len(page["items"])
            page_token = page.get("next_page_token")
            if not page_token:
                return

    def job(self, id_or_name: str) -> Job:
        """Find one job by its id, or one of mine by its name."""
        return Job(self._connection, self._connection.fetch(_path("jobs", id_or_name)))

    def events(self, after: int | None = None, follow: bool = False) -> Iterator[Data]:
        """Yield what happened on the platform, behind event number `after` or from the first.

        With `follow`, go on for ever, and without `after` begin now.
        """
        if not follow:
            yield from self._connection.page_events("/events", after or 0)
            return
        for event in self._connection.events("/events/stream", after=after):
            yield json.loads(event.data)

    def upload_code(self, folder: str | os.PathLike[str] | Selection) -> str:
        """Send a code folder and return its digest; what the server has already is not sent again."""
        from footplate.sdk import codecache
        from footplate.sdk.packing import Selection, select

        selection = folder if isinstance(folder, Selection) else select(Path(folder))
        marks = codecache.marks_of(selection)
        digest = self._send_change(selection, marks) or self._send_whole(selection)
        codecache.note(self.url, selection, digest, marks)
        return digest

    def _send_whole(self, selection: Selection) -> str:
        from footplate.sdk.packing import pack

        with pack(selection) as archive:
            if not self._has_code(archive.digest):
                self._send_code(archive)
            return archive.digest

    def _send_change(self, selection: Selection, marks: Mapping[str, str]) -> str | None:
        """Send what has changed since the last time; None where that cannot be, or would save nothing."""
        from footplate.sdk import codecache
        from footplate.sdk.packing import pack_change

        sent = codecache.recall(self.url, selection)
        change = codecache.change_since(sent, selection, marks) if sent else None
        if sent is None or change is None or not self._has_code(sent.digest):
            return None
        if change.is_none:
            return sent.digest
        if 2 * sum(entry.size_bytes for entry in change.changed) > selection.size_bytes:
            return None
        with pack_change(selection, change.changed, change.removed) as archive:
            headers = {"Content-Type": "application/gzip", "Content-Length": str(archive.size_bytes)}
            content = read_in_chunks(archive.file)
            try:
                answer = self._connection.request(
                    "POST", "/code", content=content, headers=headers, params={"base": sent.digest}
                )
            except FootplateError:
                # An older server, or one that has lost it meanwhile.
                return None
            return str(answer.json()["upload"])

    def _has_code(self, digest: str) -> bool:
        try:
            self._connection.request("HEAD", _path("code", digest))
        except NotFound:
            return False
        return True

    def _send_code(self, archive: Archive) -> None:
        headers = {
            "Content-Type": "application/gzip",
            "Content-Length": str(archive.size_bytes),
            "X-Content-SHA256": archive.digest.removeprefix("sha256:"),
        }
        self._connection.request("POST", "/code", content=read_in_chunks(archive.file), headers=headers)

    def _upload(self, submission: Submission) -> Submission:
        if submission.code is None:
            return submission
        from footplate.sdk.gitstate import revision_of

        digest = self.upload_code(submission.code)
        return _with_code(submission, digest, revision_of(submission.code))

    # The platform

    def summary(self) -> Data:
        """Count jobs and resources, for a dashboard."""
        return self._data("GET", "/summary")

    def version(self) -> Data:
        return self._data("GET", "/version")

    def schema(self) -> Data:
        """Return the JSON schema of the job file."""
        return self._data("GET", "/schema/job")

    def engines(self) -> list[Data]:
        """List the engines of the server, and what each can do."""
        return self._items("/engines")

    def nodes(self) -> list[Data]:
        return self._items("/nodes")

    def node(self, name: str) -> Data:
        """Show one node: the tasks there, and how busy its cards are."""
        return self._data("GET", _path("nodes", name))

    def node_usage(
        self, name: str, card: int | None = None, since: str | None = None, points: int = 300
    ) -> Data:
        """Say what was used of a node over time by all that runs there, oldest first."""
        path = _path("nodes", name, "usage")
        answer: Data = self._connection.fetch(path, card=card, since=with_zone(since), points=points)
        return answer

    def edit_node(self, name: str, *, is_schedulable: bool) -> Data:
        """Open a node for new tasks, or close it; what runs there goes on."""
        return self._data("PATCH", _path("nodes", name), {"is_schedulable": is_schedulable})

    def strategies(self) -> list[Data]:
        """List the ways to start a distributed training that a job may name."""
        return self._items("/strategies")

    def queues(self) -> list[Data]:
        return self._items("/queues")

    def queue(self, name: str) -> Data:
        return self._data("GET", _path("queues", name))

    def create_queue(self, name: str, **fields: Any) -> Data:
        return self._data("POST", "/queues", {"name": name, **fields})

    def edit_queue(self, name: str, **fields: Any) -> Data:
        return self._data("PATCH", _path("queues", name), fields)

    def delete_queue(self, name: str) -> None:
        self._connection.send("DELETE", _path("queues", name))

    def members(self, queue: str) -> list[Data]:
        return self._items(_path("queues", queue, "members"))

    def set_member(self, queue: str, user: str, role: str) -> None:
        """Let a user into a queue as admin, member or viewer."""
        self._connection.send(
            "PUT", _path("queues", queue, "members", user), {"role": role}, is_repeatable=True
        )

    def remove_member(self, queue: str, user: str) -> None:
        self._connection.send("DELETE", _path("queues", queue, "members", user))

    # People

    def login(
        self,
        user: str,
        password: str,
        name: str = "sdk",
        expires_in_s: int | None = None,
        *,
        replaces: bool = False,
    ) -> Data:
        """Exchange a password for a token; the client keeps its own credentials.

        When it `replaces`, the user's earlier tokens of the same name become worthless.
        """
        return self._connection.login(user, password, name, expires_in_s, replaces)

    def whoami(self) -> Data:
        return self._data("GET", "/me")

    def change_password(self, old_password: str, new_password: str) -> None:
        self._connection.send(
            "POST", "/me/password", {"old_password": old_password, "new_password": new_password}
        )

    def tokens(self) -> list[Data]:
        return self._items("/tokens")

    def create_token(self, name: str, expires_in_s: int | None = None) -> Data:
        """Make a token for a program; its text is shown this once."""
        return self._data("POST", "/tokens", {"name": name, "expires_in_s": expires_in_s})

    def sign_in_link(self, path: str = "/", **fields: Any) -> Data:
        """Make a link that opens a page of the console signed in; good once, for a short while."""
        return self._data("POST", "/session/links", {"path": path, **fields})

    def revoke_token(self, token_id: str) -> None:
        self._connection.send("DELETE", _path("tokens", token_id))

    def access_keys(self) -> list[Data]:
        return self._items("/access-keys")

    def create_access_key(self, name: str) -> Data:
        """Make a key for clients that sign requests, such as tikit; its secret is shown this once."""
        return self._data("POST", "/access-keys", {"name": name})

    def delete_access_key(self, key_id: str) -> None:
        self._connection.send("DELETE", _path("access-keys", key_id))

    def users(self) -> list[Data]:
        return self._items("/users")

    def create_user(self, name: str, password: str, **fields: Any) -> Data:
        return self._data("POST", "/users", {"name": name, "password": password, **fields})

    def edit_user(self, name: str, **fields: Any) -> Data:
        return self._data("PATCH", _path("users", name), fields)

    def delete_user(self, name: str) -> None:
        self._connection.send("DELETE", _path("users", name))

    def _data(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, is_repeatable: bool = False
    ) -> Data:
        answer: Data = (
            self._connection.fetch(path)
            if method == "GET"
            else self._connection.send(method, path, body, is_repeatable=is_repeatable)
        )
        return answer

    def _items(self, path: str) -> list[Data]:
        items: list[Data] = self._connection.fetch(path)["items"]
        return items


def _prepared(
    source: Source | Submission, code_dir: str | os.PathLike[str] | None, overrides: Mapping[str, Any]
) -> Submission:
    from footplate.sdk.submission import Submission, prepare

    return source if isinstance(source, Submission) else prepare(source, code_dir, **overrides)


def _digest(selection: Selection) -> str:
    from footplate.sdk.packing import pack

    with pack(selection) as archive:
        return archive.digest


def _path(*parts: str) -> str:
    return "/" + "/".join(quote(part, safe=":") for part in parts)


def _with_code(submission: Submission, digest: str, revision: Data | None = None) -> Submission:
    document = dict(submission.document)
    code = _uploaded(document, digest)
    if revision is not None:
        code = {**code, "revision": revision}
    return replace(submission, document={**document, "code": code})


def _uploaded(document: Data, digest: str) -> Data:
    """Say where the code came to; what else the job says of it stays, be it only to be refused."""
    told = document.get("code")
    kept = dict(told) if isinstance(told, Mapping) else {}
    return {name: kept[name] for name in kept if name not in ("storage", "path")} | {"upload": digest}
