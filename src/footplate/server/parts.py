"""The parts of a running server that routes use."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi.requests import HTTPConnection

from footplate.control.controller import Controller
from footplate.server.livesettings import LiveSettings
from footplate.server.sessions import Sessions
from footplate.server.settings import Settings
from footplate.server.ssh.opening import SshAddress
from footplate.services.accounts import Accounts
from footplate.services.alerts.alerts import Alerts
from footplate.services.cloudtopics import Topics
from footplate.services.feed import Feed
from footplate.services.figures import Waits
from footplate.services.openings import Openings
from footplate.services.platform import Platform
from footplate.services.registrylogins import ImageKeys
from footplate.services.shells import Shells
from footplate.services.signinlinks import SignInLinks
from footplate.services.tokens import Tokens
from footplate.services.webtokens import WebTokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """`first_password` is that of the first account, when it had to be made up at this start."""

    platform: Platform
    accounts: Accounts
    tokens: Tokens
    controller: Controller
    feed: Feed
    waits: Waits
    sessions: Sessions
    sign_in_links: SignInLinks
    shells: Shells
    web_tokens: WebTokens
    ssh: SshAddress | None
    openings: Openings
    settings: Settings
    live: LiveSettings
    alerts: Alerts
    image_keys: ImageKeys = field(default_factory=ImageKeys)
    topics: Topics = field(default_factory=Topics)
    first_password: str | None = None


def parts_of(connection: HTTPConnection) -> Parts:
    parts: Parts = connection.app.state.parts
    return parts
