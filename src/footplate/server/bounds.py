"""Limits of a connection before the caller is authenticated: size, rate and time."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.fields import Field, Record
from footplate.domain.kinds import Duration, Integer, Size

KIB = 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    """`body_rate_bytes` are per second."""

    header_bytes: int = 320 * KIB
    n_headers: int = 100
    header_time_s: float = 20.0
    body_rate_bytes: int = KIB
    idle_s: float = 15.0
    stall_s: float = 300.0
    n_per_address: int = 1024
    n_connections: int = 4096


BOUNDS = Record(
    Bounds,
    (
        Field(
            "header_size",
            Size(4 * KIB, 1024 * KIB),
            "Most bytes of a request's first line and headers; answered with 431. Who follows the log of a "
            "gang of a thousand tasks needs 256KB.",
            320 * KIB,
            "header_bytes",
        ),
        Field("headers", Integer(16, 10_000), "Most headers of a request; 431.", 100, "n_headers"),
        Field(
            "header_time",
            Duration(1, 3600),
            "How long a new connection may take to send a request's headers; 408, and nothing to one that "
            "has sent nothing.",
            20.0,
            "header_time_s",
        ),
        Field(
            "body_rate",
            Size(0, 1024**3),
            "Least bytes per second of a body, counted over half a minute while the server is ready for "
            "more; 408. With 0 a body may take for ever.",
            KIB,
            "body_rate_bytes",
        ),
        Field(
            "idle",
            Duration(1, 3600),
            "How long a connection is kept open between two requests.",
            15.0,
            "idle_s",
        ),
        Field(
            "stall",
            Duration(1, 86400),
            "How long a reader may take nothing of an answer that waits for it.",
            300.0,
            "stall_s",
        ),
        Field(
            "per_address",
            Integer(1, 1_000_000),
            "Most connections from one address (of IPv6, from one network of 64 bits); 503. Trusted proxies "
            "are bounded by `most` alone.",
            1024,
            "n_per_address",
        ),
        Field(
            "most",
            Integer(8, 1_000_000),
            "Most connections in all, and never more than half of the files that the system lets the "
            "server open; 503.",
            4096,
            "n_connections",
        ),
    ),
)
