"""What admins set for all channels: the mail server, and networks to which webhooks may lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from ipaddress import ip_network

import sqlalchemy as sa

from footplate.domain.errors import InvalidInput, problem
from footplate.notify.base import MailServer, Network, Surroundings
from footplate.services import audit
from footplate.services.access import Caller, require_admin
from footplate.services.platform import Platform
from footplate.store import kept_settings

NAME = "alerts"
_LABEL = "password of the mail server"


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """As admins see it: the password is never told."""

    mail: MailServer | None = None
    networks: tuple[str, ...] = ()
    has_password: bool = False


async def shown(platform: Platform, caller: Caller) -> AlertSettings:
    """What is set, without the password."""
    require_admin(caller, "change_alert_settings")
    settings, _ = await platform.store.read(lambda connection: _read(connection))
    return settings


async def put(
    platform: Platform,
    caller: Caller,
    mail: MailServer | None,
    networks: Sequence[str],
    keeps_password: bool = False,
) -> AlertSettings:
    """Replace what is set; the password that is stored stays where none is given."""
    require_admin(caller, "change_alert_settings")
    _networks(networks)
    wanted = AlertSettings(mail and replace(mail, password=""), tuple(networks))

    def unit(connection: sa.Connection) -> AlertSettings:
        _, before = _read(connection)
        sealed = before if keeps_password else None
        if mail is not None and mail.password:
            sealed = platform.vault.seal(mail.password, _LABEL)
        document = {"mail": wanted.mail and asdict(wanted.mail), "networks": list(networks)}
        kept_settings.put(connection, NAME, document, sealed)
        return replace(wanted, has_password=sealed is not None)

    host = mail.host if mail else ""
    return await audit.change(
        platform, caller, "alerts.set_up", "alerts", unit, host=host, networks=list(networks)
    )


async def surroundings(platform: Platform) -> Surroundings:
    """What senders need to know of all that is set."""
    settings, sealed = await platform.store.read(lambda connection: _read(connection))
    mail = settings.mail
    if mail is not None and sealed is not None:
        mail = replace(mail, password=platform.vault.unseal(sealed, _LABEL))
    return Surroundings(mail, _networks(settings.networks))


def _read(connection: sa.Connection) -> tuple[AlertSettings, bytes | None]:
    document, sealed = kept_settings.read(connection, NAME)
    mail = document.get("mail")
    networks = tuple(document.get("networks", ()))
    server = MailServer(**mail) if mail else None
    return AlertSettings(server, networks, sealed is not None), sealed


def _networks(given: Sequence[str]) -> tuple[Network, ...]:
    found: list[Network] = []
    problems = []
    for number, text in enumerate(given):
        try:
            found.append(ip_network(text.strip(), strict=False))
        except ValueError:
            problems.append(problem(f"private_networks[{number}]", "not_private_network", given=text[:64]))
    if problems:
        raise InvalidInput(problems)
    return tuple(found)
