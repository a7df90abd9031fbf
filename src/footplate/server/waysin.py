"""Makes what lets people into tasks: shells, SSH, and services for browsers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from footplate.engines.local.environments import indexes
from footplate.server.settings import Settings
from footplate.server.ssh.opening import open_gateway
from footplate.services.accounts import Accounts
from footplate.services.openings import Openings
from footplate.services.platform import Platform
from footplate.services.shells import Shells


async def ways_into_tasks(
    settings: Settings, platform: Platform, accounts_: Accounts, secret: bytes, stack: AsyncExitStack
) -> dict[str, Any]:
    """What lets people into tasks: shells, SSH, and services for browsers."""
    return {
        "shells": _shells(platform, settings, stack),
        "ssh": await open_gateway(settings, platform, accounts_, stack),
        "openings": _openings(platform, accounts_, secret, stack),
    }


def _openings(platform: Platform, accounts_: Accounts, secret: bytes, stack: AsyncExitStack) -> Openings:
    made = Openings(platform, accounts_, secret, _packages_of_the_site)
    stack.push_async_callback(made.close)
    return made


def _packages_of_the_site() -> tuple[Mapping[str, str], str]:
    files = indexes.config_files()
    return indexes.for_images(os.environ, files), indexes.certificates(os.environ, files)


def _shells(platform: Platform, settings: Settings, stack: AsyncExitStack) -> Shells:
    made = Shells(platform, settings.shell_idle_s)
    stack.push_async_callback(made.close)
    return made
