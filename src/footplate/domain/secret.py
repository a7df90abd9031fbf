"""Secrets: values that jobs use by name, and that nobody can read back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from footplate.domain.errors import InvalidInput, Problem, problem
from footplate.domain.messages import Message, say
from footplate.domain.problems import is_writable

MOST_BYTES = 64 * 1024
_SERVER = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?(?::([0-9]{1,5}))?")


class SecretKind(StrEnum):
    VALUE = "value"
    REGISTRY = "registry"


@dataclass(frozen=True, slots=True)
class Secret:
    """What may be told of a secret; `queue` is empty for one that is its owner's alone."""

    name: str
    kind: SecretKind
    owner: str
    queue: str
    created_at: float
    updated_at: float
    last_used_at: float | None = None

    @property
    def scope(self) -> str:
        return queue_scope(self.queue) if self.queue else user_scope(self.owner)


@dataclass(frozen=True, slots=True)
class RegistryLogin:
    """What a registry of images wants to see before it hands out a private image."""

    server: str
    username: str
    password: str = field(repr=False)


def user_scope(name: str) -> str:
    return f"user:{name}"


def queue_scope(name: str) -> str:
    return f"queue:{name}"


def check_value(value: str) -> None:
    """Raise `InvalidInput` when a value cannot be handed to a task."""
    fault = _fault_of(value)
    if fault is not None:
        raise InvalidInput(fault, "value")


def _fault_of(value: str) -> Message | None:
    if not value:
        return say("empty")
    try:
        size_bytes = len(value.encode())
    except UnicodeEncodeError:
        return say("not_writable")
    if "\0" in value:
        return say("zero_byte")
    if size_bytes > MOST_BYTES:
        return say("too_large", size_bytes=size_bytes, most_bytes=MOST_BYTES)
    return None


def check_login(login: RegistryLogin) -> None:
    """Raise `InvalidInput` with everything that is wrong with a login."""
    problems = list(_faults_of(login))
    if problems:
        raise InvalidInput(problems)


def _faults_of(login: RegistryLogin) -> Iterator[Problem]:
    match = _SERVER.fullmatch(login.server)
    if match is None or not 0 < int(match[2] or 443) < 65_536:
        yield problem("server", "not_registry")
    if not login.username or ":" in login.username or not _is_one_line(login.username):
        yield problem("username", "not_user_name")
    if not login.password or not _is_one_line(login.password):
        yield problem("password", "not_one_line")


def _is_one_line(text: str) -> bool:
    return is_writable(text) and not set(text) & set("\r\n")
