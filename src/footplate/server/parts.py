"""The parts of a running server that routes use."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi.requests import HTTPConnection

from footplate.control.controller import Controller
from footplate.server.sessions import Sessions
from footplate.server.settings import Settings
from footplate.services.accounts import Accounts
from footplate.services.feed import Feed
from footplate.services.platform import Platform
from footplate.services.tokens import Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """`first_password` is that of the first account, when it had to be made up at this start."""

    platform: Platform
    accounts: Accounts
    tokens: Tokens
    controller: Controller
    feed: Feed
    sessions: Sessions
    settings: Settings
    first_password: str | None = None


def parts_of(connection: HTTPConnection) -> Parts:
    parts: Parts = connection.app.state.parts
    return parts
