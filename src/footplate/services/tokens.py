"""Tokens of jobs: signed with the server's secret, so that no table has to keep them."""

from __future__ import annotations

import hashlib
import hmac

JOB_TOKEN_PREFIX = "fpj_"  # noqa: S105  # how tokens begin, not one of them


class Tokens:
    """Issues the token that the tasks of an attempt carry, and reads such a token again."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def issue(self, job_id: str, attempt: int) -> str:
        """Make the token of an attempt; whether that attempt still lives is not said by the token."""
        claim = f"{job_id}_{attempt}"
        return f"{JOB_TOKEN_PREFIX}{claim}_{self._sign(claim)}"

    def is_genuine(self, token: str) -> bool:
        claim, signature = _parts(token)
        return hmac.compare_digest(self._sign(claim).encode(), signature.encode())

    def _sign(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()


def is_of_job(token: str) -> bool:
    """Tell tokens of jobs from those of people."""
    return token.startswith(JOB_TOKEN_PREFIX)


def claim_of(token: str) -> tuple[str, str]:
    """Read which job and attempt a token names, whether or not it is genuine."""
    job_id, _, attempt = _parts(token)[0].partition("_")
    return job_id, attempt


def _parts(token: str) -> tuple[str, str]:
    claim, _, signature = token.removeprefix(JOB_TOKEN_PREFIX).rpartition("_")
    return claim, signature
