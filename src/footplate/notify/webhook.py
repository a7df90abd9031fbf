"""Webhooks: a JSON document, signed so that the receiver knows who sent it and when."""

from __future__ import annotations

import hashlib
import hmac
import json

from footplate.notify.base import Letter, Surroundings, Target
from footplate.notify.posting import post


async def send(letter: Letter, target: Target, around: Surroundings, at: float) -> None:
    """Post a letter."""
    document = {
        "delivery": letter.id,
        "attempt": letter.attempt,
        "event": letter.on,
        "level": letter.level,
        "title": letter.title,
        "text": letter.text,
        "log": list(letter.log_lines),
        "link": letter.link,
        **letter.facts,
    }
    body = json.dumps(document, ensure_ascii=False).encode()
    headers = {
        "Content-Type": "application/json",
        "X-Footplate-Event": letter.on,
        "X-Footplate-Delivery": letter.id,
        "X-Footplate-Attempt": str(letter.attempt),
    }
    if target.secret:
        headers["X-Footplate-Signature"] = signature(target.secret, int(at), body)
    await post(target.address, body, headers, around)


def signature(secret: str, at: int, body: bytes) -> str:
    """Sign the moment and the body: `t=SECONDS,v1=HEX`, of HMAC-SHA256 over `SECONDS.BODY`."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signed}"
