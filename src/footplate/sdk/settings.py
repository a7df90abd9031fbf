"""Which server to talk to and as whom: from arguments, the environment, or a file.

A stored token belongs to the server it was stored with and is sent to no other.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from footplate.domain.errors import InvalidInput
from footplate.sdk.errors import NotConfigured


@dataclass(frozen=True, slots=True)
class Settings:
    """A server and the credentials for it; `token_id` is known for a token that `login` stored.

    A password of the environment serves many commands, so what it is traded for `is_kept` among them.
    """

    url: str
    token: str = ""
    user: str = ""
    password: str = ""
    token_id: str = ""
    is_kept: bool = False


def config_file(environment: Mapping[str, str] = os.environ) -> Path:
    """The file in which `footplate login` stores its token."""
    if named := environment.get("FOOTPLATE_CONFIG"):
        return Path(named).expanduser()
    base = environment.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "footplate" / "client.toml"


def home_file(home: str | os.PathLike[str] | None, environment: Mapping[str, str] = os.environ) -> Path:
    """Say where `footplate up` leaves the address of a server on this machine."""
    return Path(home or environment.get("FOOTPLATE_HOME") or "~/.footplate").expanduser() / "client.toml"


def find(
    url: str | None = None,
    token: str | None = None,
    user: str | None = None,
    password: str | None = None,
    home: str | os.PathLike[str] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """Find the server and the credentials: arguments first, then the environment, then files."""
    stored = list(_stored(home, environment))
    environment = with_old_names(environment)
    wanted = url or environment.get("FOOTPLATE_URL") or (stored[0].url if stored else "")
    if not wanted:
        raise NotConfigured("no_server_known")
    settings = Settings(normalize(wanted))
    if token:
        return replace(settings, token=token)
    if user and password:
        return replace(settings, user=user, password=password)
    if named := environment.get("FOOTPLATE_TOKEN"):
        return replace(settings, token=named)
    user, password = (
        user or environment.get("FOOTPLATE_USER"),
        password or environment.get("FOOTPLATE_PASSWORD"),
    )
    if user and password:
        return replace(settings, user=user, password=password, is_kept=True)
    return next((one for one in stored if one.url == settings.url), settings)


def with_old_names(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment with what is set for the commands of FfDL and Prophecis, where ours is not set."""
    address = environment.get("DLAAS_URL", "")
    if environment.get("FOOTPLATE_URL") or not address:
        return environment
    parts = urlsplit(address if "://" in address else f"http://{address}")
    _, _, place = parts.netloc.rpartition("@")
    path = parts.path.rstrip("/").removesuffix("/v1").removesuffix("/di").rstrip("/")
    names = {
        "FOOTPLATE_USER": environment.get("DLAAS_USERNAME")
        or environment.get("MLSS_AUTH_USER")
        or unquote(parts.username or ""),
        "FOOTPLATE_PASSWORD": environment.get("DLAAS_PASSWORD")
        or _decoded(environment.get("MLSS_AUTH_PASSWD", ""))
        or unquote(parts.password or ""),
    }
    given = {name: value for name, value in names.items() if value and not environment.get(name)}
    return {**environment, **given, "FOOTPLATE_URL": f"{parts.scheme}://{place}{path}"}


def _decoded(password: str) -> str:
    """Prophecis has the password in base64; one that is none is taken as it is."""
    try:
        return base64.b64decode(password, validate=True).decode()
    except (binascii.Error, ValueError):
        return password


def normalize(url: str) -> str:
    """Write a server's address in the one form that is compared and sent to."""
    text = url.strip() if "://" in url else f"http://{url.strip()}"
    try:
        parts = urlsplit(text)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise InvalidInput("not_server_address", "url", given=url)
    path = parts.path.rstrip("/").removesuffix("/api/v1").rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}"


def _stored(home: str | os.PathLike[str] | None, environment: Mapping[str, str]) -> Iterator[Settings]:
    """Read the files, those that were named on purpose first."""
    login, local = config_file(environment), home_file(home, environment)
    is_home_named = bool(home or environment.get("FOOTPLATE_HOME"))
    is_config_named = "FOOTPLATE_CONFIG" in environment
    for path in (local, login) if is_home_named and not is_config_named else (login, local):
        if (settings := read(path)) is not None:
            yield settings


def read(path: Path) -> Settings | None:
    """Read one settings file; None when there is none."""
    try:
        text = path.read_text("utf-8")
    except OSError:
        return None
    try:
        values = {name: str(value) for name, value in tomllib.loads(text).items()}
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput("login_file_unreadable", file=str(path), error=str(error)) from None
    if not values.get("url"):
        return None
    token, user, token_id = (values.get(name, "") for name in ("token", "user", "token_id"))
    return Settings(normalize(values["url"]), token, user, token_id=token_id)


def write(path: Path, settings: Settings) -> None:
    """Store a server and a token, readable by the owner alone; never a password."""
    values = {
        "url": settings.url,
        "user": settings.user,
        "token": settings.token,
        "token_id": settings.token_id,
    }
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items() if value)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)
