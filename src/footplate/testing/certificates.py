"""An authority for tests: it signs certificates for whatever names and times a test is about."""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Pair:
    """The files of a certificate and its key."""

    cert: Path
    key: Path


@dataclass
class Authority:
    """Signs; whoever trusts `file` trusts what it signed."""

    folder: Path
    name: str = "Test Authority"
    _key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.file = self.folder / "authority.pem"
        own = _builder(self.name, self.name, self._key, 1).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        signed = own.sign(self._key, hashes.SHA256())
        self.file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))

    def issue(self, *names: str, days: float = 1, into: str = "server") -> Pair:
        """Write a certificate for names and addresses, and its key; with negative `days` it is over."""
        key = ec.generate_private_key(ec.SECP256R1())
        others = x509.SubjectAlternativeName([_general(name) for name in names])
        builder = _builder(names[0], self.name, key, days).add_extension(others, critical=False)
        signed = builder.sign(self._key, hashes.SHA256())
        pair = Pair(self.folder / f"{into}.pem", self.folder / f"{into}.key")
        pair.cert.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        pair.key.write_bytes(private_bytes(key))
        pair.key.chmod(0o600)
        return pair


def private_bytes(key: ec.EllipticCurvePrivateKey, passphrase: str = "") -> bytes:
    lock = (
        serialization.BestAvailableEncryption(passphrase.encode())
        if passphrase
        else serialization.NoEncryption()
    )
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock)


def _general(name: str) -> x509.GeneralName:
    with suppress(ValueError):
        return x509.IPAddress(ipaddress.ip_address(name))
    return x509.DNSName(name)


def _builder(
    subject: str, issuer: str, key: ec.EllipticCurvePrivateKey, days: float
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=30))
        .not_valid_after(now + timedelta(days=days))
    )
