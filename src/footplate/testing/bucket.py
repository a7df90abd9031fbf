"""A server that speaks S3, for tests: moto's, in threads of this process."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

import httpx

KEY = {"access_key_id": "AKIATEST", "secret_access_key": "a secret key"}
_numbers = count(1)


@dataclass(frozen=True)
class BucketServer:
    """Where it listens; buckets are made as tests need them."""

    url: str

    def new_bucket(self) -> str:
        """Make an empty bucket, and say its name."""
        name = f"bucket-{next(_numbers)}"
        answer = httpx.put(f"{self.url}/{name}", trust_env=False)
        assert answer.is_success, answer.text
        return name


@contextmanager
def running_bucket_server() -> Iterator[BucketServer]:
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield BucketServer(f"http://{host}:{port}")
    finally:
        server.stop()
