"""TLS by certificate files, which are read again when they have been renewed on disk."""

from __future__ import annotations

import asyncio
import logging
import ssl
import stat
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from cryptography import x509

from footplate.domain.errors import InvalidInput

POLL_EVERY_S = 5.0
SOON = timedelta(days=14)

log = logging.getLogger(__name__)

# Which bytes a file held: when it was changed, its size, and its place on the disk.
Stamp = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What a certificate says of itself."""

    names: tuple[str, ...]
    not_after: datetime

    def covers(self, host: str) -> bool:
        """Tell whether it is for a name or address; `*.example.org` is for one label before the dot."""
        wanted = host.lower()
        return any(
            name == wanted or (name.startswith("*.") and name[1:] == f".{wanted.partition('.')[2]}")
            for name in (one.lower() for one in self.names)
        )


class Tls:
    """What new connections are secured with; `renew` takes over files that have changed."""

    def __init__(self, cert: Path, key: Path) -> None:
        self._cert, self._key = cert, key
        self._seen = self._stamp()
        self.context, self.told = _load(cert, key)
        self._newest = self.context
        self.context.sni_callback = self._choose
        if stat.S_IMODE(key.stat().st_mode) & stat.S_IROTH:
            log.warning("everybody on this machine can read the key %s: `chmod o-r %s` ends that", key, key)

    def renew(self) -> bool:
        """Reload the files if they have changed; a pair that does not match is logged and not used."""
        if (now := self._stamp()) == self._seen:
            return False
        self._seen = now
        try:
            self._newest, self.told = _load(self._cert, self._key)
        except InvalidInput as error:
            log.warning("the renewed certificate is not used, the one before still is: %s", error)
            return False
        log.info("the certificate was renewed; it is for %s until %s", *describe(self.told))
        return True

    def _choose(
        self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _first: ssl.SSLContext
    ) -> None:
        # Never the files into a context that is in use: of a broken pair it would keep one half.
        connection.context = self._newest

    async def watch(self) -> None:
        """Watch for renewed files, forever."""
        while True:
            await asyncio.sleep(POLL_EVERY_S)
            await asyncio.to_thread(self.renew)

    def warn(self, url: str, now: datetime | None = None) -> None:
        """Say what clients will refuse: a name that the certificate lacks, or its end."""
        now, host = now or datetime.now(UTC), urlsplit(url).hostname or ""
        names, until = describe(self.told)
        if not self.told.covers(host):
            log.warning(
                "clients will refuse %s: the certificate is for %s; set `public_url` in settings.toml to an "
                "address with such a name",
                url,
                names,
            )
        if self.told.not_after - now < SOON:
            ended = "has ended" if self.told.not_after <= now else "ends soon"
            log.warning("the certificate %s %s, on %s: renew it", self._cert, ended, until)

    def _stamp(self) -> Stamp:
        return tuple(_stamp_of(path) for path in (self._cert, self._key))


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    with suppress(OSError):
        found = path.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino
    return None


def _empty_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def _load(cert: Path, key: Path) -> tuple[ssl.SSLContext, Told]:
    """Read a pair; raise `InvalidInput` for files that are no certificate and key, or do not fit."""
    context = _empty_context()
    try:
        told = read_certificate(cert)
        context.load_cert_chain(cert, key, password=_refuse_passphrase)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise InvalidInput(
                "tls_key_of_another", "tls_key", key=str(key), certificate=str(cert)
            ) from error
        raise InvalidInput("tls_no_key", "tls_key", file=str(key), error=error.reason) from error
    except OSError as error:
        # The certificate is read first, so what cannot be read after it is the key.
        path, field = (cert, "tls_cert") if error.filename else (key, "tls_key")
        raise InvalidInput("file_unreadable", field, file=str(path), error=error.strerror) from error
    except ValueError as error:
        raise InvalidInput("tls_no_certificate", "tls_cert", file=str(cert)) from error
    return context, told


def _refuse_passphrase() -> NoReturn:
    raise InvalidInput(
        "tls_key_locked",
        "tls_key",
    )


def read_certificate(path: Path) -> Told:
    """Read the first certificate of a file; raise ValueError when there is none."""
    found = x509.load_pem_x509_certificate(path.read_bytes())
    names: list[str] = []
    with suppress(x509.ExtensionNotFound):
        others = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        names += others.get_values_for_type(x509.DNSName)
        names += [str(one) for one in others.get_values_for_type(x509.IPAddress)]
    return Told(tuple(names), found.not_valid_after_utc)


def describe(told: Told) -> tuple[str, str]:
    """The names of a certificate, and its last day, in words."""
    return ", ".join(told.names) or "no name at all", f"{told.not_after:%Y-%m-%d}"
