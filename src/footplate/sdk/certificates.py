"""Which certificates a client trusts, and what to say of one that it does not."""

from __future__ import annotations

import hashlib
import os
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from footplate.domain.errors import InvalidInput
from footplate.domain.messages import Message, say

INSPECT_S = 3.0
# Numbers of OpenSSL for what is wrong with a certificate.
NOT_YET, EXPIRED = 9, 10
UNKNOWN_SIGNERS = frozenset({2, 18, 19, 20, 21})
OTHER_NAMES = frozenset({62, 64})
NO_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"})

# The fields of a certificate as the ssl module gives them.
Told = Mapping[str, Any]


def trusted(environment: Mapping[str, str] = os.environ) -> ssl.SSLContext:
    """Trust what SSL_CERT_FILE and SSL_CERT_DIR name; without them the authorities of system and certifi."""
    file, folder = environment.get("SSL_CERT_FILE"), environment.get("SSL_CERT_DIR")
    if not file and not folder:
        import certifi

        context = ssl.create_default_context()
        context.load_verify_locations(certifi.where())
        return context
    for name, path in (("SSL_CERT_FILE", file), ("SSL_CERT_DIR", folder)):
        if path and not Path(path).exists():
            raise InvalidInput("certificates_missing", name, file=str(path))
    try:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    except (OSError, ssl.SSLError) as error:
        raise InvalidInput(
            "certificates_empty", "SSL_CERT_FILE", file=str(file or folder), error=str(error)
        ) from None


def fault_of(error: BaseException) -> ssl.SSLError | None:
    """Find the fault of TLS behind an error of the HTTP client."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def explain(url: str, fault: ssl.SSLError, environment: Mapping[str, str] = os.environ) -> Message:
    """Say which certificate is refused, why, and what to do."""
    if not isinstance(fault, ssl.SSLCertVerificationError):
        if fault.reason in NO_TLS:
            plain = url.replace("https:", "http:", 1)
            return say("server_without_tls", url=url, plain=plain)
        return say("no_tls_connection", url=url, error=str(fault.reason or fault))
    found, fingerprint = _inspect(url)
    if fault.verify_code in OTHER_NAMES:
        names = [value for _, value in found.get("subjectAltName", ())]
        return say("certificate_of_others", url=url, names=names, host=urlsplit(url).hostname or "")
    if fault.verify_code in (NOT_YET, EXPIRED):
        code = "certificate_expired" if fault.verify_code == EXPIRED else "certificate_not_valid_yet"
        return say(code, url=url, fingerprint=fingerprint)
    if fault.verify_code in UNKNOWN_SIGNERS:
        now = environment.get("SSL_CERT_FILE") or environment.get("SSL_CERT_DIR")
        signer = _signer(found)
        code = "certificate_untrusted" if signer else "certificate_self_signed"
        return say(code, url=url, fingerprint=fingerprint, now=now, **({"signer": signer} if signer else {}))
    return say("certificate_refused", url=url, error=fault.verify_message, fingerprint=fingerprint)


def speaks_tls(url: str) -> bool:
    """Tell whether a server that was asked in plain HTTP expects TLS."""
    with suppress(OSError, ValueError), _handshake(url, _unchecked()):
        return True
    return False


def _signer(found: Told) -> str:
    """The signer of a certificate; empty if it is self-signed or unknown."""
    return "" if found.get("issuer") == found.get("subject") else _name(found.get("issuer", ()))


def _name(parts: Any) -> str:
    """The common name of a subject in a certificate, or its organization."""
    fields = {field: value for group in parts for field, value in group}
    return str(fields.get("commonName") or fields.get("organizationName") or "")


def _inspect(url: str) -> tuple[Told, str]:
    """What the certificate of a server says, and its fingerprint; nothing where it cannot be seen."""
    with suppress(OSError, ValueError):
        with _handshake(url, _unchecked()) as connection:
            raw = connection.getpeercert(binary_form=True) or b""
        # Its fields are told only of a certificate that is trusted: here it is, for this one inspection.
        context = _unchecked()
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.load_verify_locations(cadata=raw)
        told: Told = {}
        with suppress(OSError), _handshake(url, context) as connection:
            told = connection.getpeercert() or {}
        return told, hashlib.sha256(raw).hexdigest()
    return {}, ""


def _unchecked() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _handshake(url: str, context: ssl.SSLContext) -> ssl.SSLSocket:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    plain = socket.create_connection((host, port), INSPECT_S)
    try:
        return context.wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise
