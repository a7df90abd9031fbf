"""Public keys by which people come in over SSH: their own, and those that are handed out for one job."""

from __future__ import annotations

import base64
import binascii
import hashlib

import sqlalchemy as sa

from footplate.dialects.pai import plugins
from footplate.domain.errors import Conflict, InvalidInput, NotFound
from footplate.domain.job import Job
from footplate.services import audit
from footplate.services.access import Caller, require_person
from footplate.services.entering import find_enterable
from footplate.services.platform import Platform
from footplate.store import ssh_key_queries as keys
from footplate.store.ssh_key_queries import SshKey

MOST_OF_A_PERSON = 50
# For one job: a person may come from several machines, each of which keeps its own.
MOST_HANDED_OUT = 10
KINDS = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa",
)
# A key of 2048 bits, with its exponent and the lengths of its parts.
LEAST_RSA_BYTES = 270


def read_public(text: str) -> tuple[str, bytes, str]:
    """Read a line such as `ssh-ed25519 AAAA… me@laptop`: its kind, the key, and the comment."""
    words = text.strip().split(None, 2)
    if len(words) < 2 or words[0] not in KINDS or "\n" in text.strip():
        raise InvalidInput("not_a_public_key", "public_key", kinds=list(KINDS[:4]))
    try:
        blob = base64.b64decode(words[1], validate=True)
    except (binascii.Error, ValueError):
        blob = b""
    kind = words[0].encode()
    if not blob.startswith(len(kind).to_bytes(4, "big") + kind):
        raise InvalidInput("not_a_public_key", "public_key", kinds=list(KINDS[:4]))
    if words[0] == "ssh-rsa" and len(blob) < LEAST_RSA_BYTES:
        raise InvalidInput("rsa_key_short", "public_key")
    return words[0], blob, words[2] if len(words) > 2 else ""


def id_of(blob: bytes) -> str:
    return hashlib.sha256(blob).hexdigest()


def fingerprint_of(blob: bytes) -> str:
    """Write a key as `ssh-keygen -l` does."""
    digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"


async def add(platform: Platform, caller: Caller, public_key: str, name: str = "") -> SshKey:
    """Let the caller come in with a key; raise `Conflict` for one that is known already."""
    require_person(caller, "manage_ssh_keys")
    kind, blob, comment = read_public(public_key)
    new = SshKey(
        id=id_of(blob),
        user=caller.name,
        name=(name or comment or kind)[:255],
        kind=kind,
        fingerprint=fingerprint_of(blob),
        created_at=platform.clock.now(),
    )

    def unit(connection: sa.Connection) -> None:
        if keys.find(connection, new.id) is not None:
            raise Conflict("ssh_key_known", fingerprint=new.fingerprint)
        if len(keys.own_of(connection, caller.name)) >= MOST_OF_A_PERSON:
            raise Conflict("too_many_ssh_keys", most=MOST_OF_A_PERSON)
        keys.add(connection, new)

    await audit.change(platform, caller, "ssh_key.added", new.fingerprint, unit, name=new.name)
    return new


async def own_of(platform: Platform, caller: Caller) -> list[SshKey]:
    require_person(caller, "manage_ssh_keys")
    return await platform.store.read(lambda connection: keys.own_of(connection, caller.name))


async def remove(platform: Platform, caller: Caller, key_id: str) -> None:
    """Let nobody come in with a key any more."""
    require_person(caller, "manage_ssh_keys")
    gone = await audit.change(
        platform,
        caller,
        "ssh_key.removed",
        key_id,
        lambda connection: keys.remove(connection, caller.name, key_id),
    )
    if not gone:
        raise NotFound("ssh_key_unknown", key=key_id)


async def hand_out(platform: Platform, caller: Caller, id_or_name: str) -> str:
    """Make a key that opens one job for the caller, and return its private part; the oldest of many ends."""
    # Loaded when used: it is large.
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    # It would outlive the token of the job that asks.
    require_person(caller, "manage_ssh_keys")
    job = await find_enterable(platform, caller, id_or_name, "ssh")
    private = Ed25519PrivateKey.generate()
    public = private.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH).decode()
    kind, blob, _ = read_public(public)
    new = SshKey(
        id=id_of(blob),
        user=caller.name,
        name=job.spec.name,
        kind=kind,
        fingerprint=fingerprint_of(blob),
        created_at=platform.clock.now(),
        job_id=job.id,
    )

    def unit(connection: sa.Connection) -> None:
        keys.add(connection, new)
        keys.keep_newest_of_job(connection, caller.name, job.id, MOST_HANDED_OUT)

    await audit.change(platform, caller, "job.ssh_key_made", job.id, unit, name=job.spec.name)
    return private.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption()).decode()


async def find(platform: Platform, blob: bytes) -> SshKey | None:
    """Find who comes with a key."""
    return await platform.store.read(lambda connection: keys.find(connection, id_of(blob)))


def of_file(job: Job, blob: bytes) -> SshKey | None:
    """The key of somebody who comes to a job whose file names it: as the owner, who wrote that."""
    for text in plugins.user_keys(job.spec.extras):
        try:
            kind, known, _ = read_public(text)
        except InvalidInput:
            continue
        if known == blob:
            return SshKey("", job.owner, job.spec.name, kind, fingerprint_of(blob), job.submitted_at, job.id)
    return None


async def touch(platform: Platform, key: SshKey) -> None:
    now = platform.clock.now()
    await platform.store.write(lambda tx: keys.touch(tx.connection, key.id, now))
