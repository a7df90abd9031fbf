"""Logins at registries that clients of TI-ONE send with a task, encrypted for this server."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

from footplate.dialects.fields import Reader
from footplate.domain.errors import InvalidInput
from footplate.domain.secret import RegistryLogin
from footplate.domain.spec import JobSpec
from footplate.services import secrets
from footplate.services.access import Caller
from footplate.services.platform import Platform

KEY_BITS = 2048
MOST_PIECES = 16


@dataclass(slots=True)
class ImageKeys:
    """A pair of keys that is made when it is first asked for, and lasts as long as the server runs."""

    _made: list[Any] = field(default_factory=list)

    @property
    def _private(self) -> Any:
        if not self._made:
            from cryptography.hazmat.primitives.asymmetric import rsa

            self._made.append(rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS))
        return self._made[0]

    @property
    def public_pem(self) -> str:
        from cryptography.hazmat.primitives import serialization

        public = self._private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return str(public.decode())

    @property
    def key_id(self) -> str:
        return hashlib.sha256(self.public_pem.encode()).hexdigest()[:32]

    def decrypt(self, text: str) -> str:
        """Decrypt what a client has encrypted in pieces, joined by commas."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding

        pad = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
        pieces = text.split(",")
        if len(pieces) > MOST_PIECES:
            raise InvalidInput("not_encrypted_here", "ImageInfo.ImageSecret.Password")
        try:
            found = [self._private.decrypt(base64.b64decode(one, validate=True), pad) for one in pieces]
            return b"".join(found).decode()
        except (binascii.Error, ValueError) as error:
            raise InvalidInput("not_encrypted_here", "ImageInfo.ImageSecret.Password") from error


def _registry(image: str) -> str:
    """The server that an image is pulled from."""
    first, slash, _ = image.partition("/")
    return first if slash and ("." in first or ":" in first) else "docker.io"


async def with_login(
    platform: Platform, caller: Caller, spec: JobSpec, asked: Reader, keys: ImageKeys
) -> JobSpec:
    """Keep the login that a request has for its image as a secret of the caller, and name it in the job."""
    image = asked.one("ImageInfo")
    given = None if image is None else image.one("ImageSecret")
    if given is None or not given.text("Username"):
        return spec
    if given.text("KeyId") not in ("", keys.key_id):
        raise InvalidInput("not_encrypted_here", f"{given.path}.KeyId")
    login = RegistryLogin(
        _registry(spec.image), given.text("Username"), keys.decrypt(given.text("Password", None))
    )
    name = f"tione-{hashlib.sha256(f'{login.server}/{login.username}'.encode()).hexdigest()[:16]}"
    await secrets.put(platform, caller, name, "", login)
    return replace(spec, image_credentials=name)
