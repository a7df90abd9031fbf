"""Posts a body to an address that was checked; redirects are not followed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from footplate.domain.messages import say
from footplate.notify.addresses import checked_address
from footplate.notify.base import SendFailed, Surroundings

if TYPE_CHECKING:
    import httpx

# Answers that may be another the next time.
TRY_AGAIN = frozenset({408, 425, 429})
MOST_ANSWER = 4096
MOST_RETRY_AFTER_S = 3600.0


async def post(url: str, body: bytes, headers: Mapping[str, str], around: Surroundings) -> bytes:
    """Post, and return the beginning of the answer; raise `SendFailed` unless it is one of success."""
    # Imported here: a server that sends nothing does not pay for it.
    import httpx

    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    address = await checked_address(host, port, around.networks)
    at = f"[{address}]" if ":" in address else address
    there = parts._replace(netloc=f"{at}:{port}").geturl()
    sent = {**headers, "Host": parts.netloc.rpartition("@")[2], "User-Agent": "footplate"}
    try:
        async with (
            httpx.AsyncClient(timeout=around.timeout_s, trust_env=False) as client,
            client.stream(
                "POST", there, content=body, headers=sent, extensions={"sni_hostname": host}
            ) as answer,
        ):
            start = b""
            async for chunk in answer.aiter_bytes():
                start += chunk
                if len(start) >= MOST_ANSWER:
                    break
    except (httpx.HTTPError, OSError) as error:
        what = str(error) or type(error).__name__
        raise SendFailed(say("channel_unreachable", host=host, error=what)) from None
    _check(answer, start)
    return start


def _check(answer: httpx.Response, start: bytes) -> None:
    status = answer.status_code
    if 200 <= status < 300:
        return
    text = start.decode(errors="replace").strip()[:200]
    is_final = status < 500 and status not in TRY_AGAIN
    said = say("channel_answered", status=status, answer=text)
    raise SendFailed(said, is_final, _retry_after_s(answer.headers.get("retry-after", "")))


def _retry_after_s(given: str) -> float:
    return min(float(given), MOST_RETRY_AFTER_S) if given.isascii() and given.isdigit() else 0.0
