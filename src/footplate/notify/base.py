"""The seam of senders: what they are given, and how they say that it did not work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from typing import Any

from footplate.domain.messages import Message, say

Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Letter:
    """A notice in words. The id is the same however often it is sent: receivers know doubles by it."""

    id: str
    attempt: int
    on: str
    level: str
    title: str
    lines: tuple[str, ...]
    log_head: str = ""
    log_lines: tuple[str, ...] = ()
    link: str = ""
    link_text: str = ""
    # The same for programs.
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All of it as plain lines."""
        log = ("", self.log_head, *(f"  {line}" for line in self.log_lines)) if self.log_lines else ()
        link = ("", f"{self.link_text}: {self.link}") if self.link else ()
        return "\n".join((*self.lines, *log, *link))


@dataclass(frozen=True, slots=True)
class Target:
    """Where a channel leads."""

    address: str
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class MailServer:
    """The server that takes our mail."""

    host: str
    port: int = 25
    security: str = "none"
    sender: str = ""
    username: str = ""
    password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What admins have set for all channels."""

    mail: MailServer | None = None
    # Networks that are not of the public Internet, to which webhooks may lead all the same.
    networks: tuple[Network, ...] = ()
    timeout_s: float = 15.0


class SendFailed(Exception):
    """A letter was not taken; `is_final` when sending it again cannot help."""

    def __init__(self, said: Message, is_final: bool = False, retry_after_s: float = 0.0) -> None:
        super().__init__(str(said))
        self.said = said
        self.is_final = is_final
        self.retry_after_s = retry_after_s


def refused(answer: str) -> SendFailed:
    """Say that the receiver understood the letter, and does not want it."""
    return SendFailed(say("channel_refused", answer=answer[:200]), is_final=True)
