"""Says what to install when a command needs more than the client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from footplate.cli.language import phrase


@contextmanager
def server_parts() -> Iterator[None]:
    """Import what only a server's machine has; elsewhere, say how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "footplate":
            raise
        raise click.ClickException(
            phrase("the server is not installed here, only the client: pip install 'footplate[server]'")
        ) from None
