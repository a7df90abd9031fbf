"""The verb redirect: run a program that was written for a cloud against this server."""

from __future__ import annotations

import os

import click

from footplate.cli.language import phrase
from footplate.cli.session import connect
from footplate.runtime import redirection

NOT_FOUND = 127


@click.command("redirect", context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, required=True, metavar="COMMAND...")
def redirect(command: tuple[str, ...]) -> int:
    """Run a Python program that names hosts of TI-ONE, COS, UAI-Train or UFile.

    Its requests to these hosts go to your Footplate server instead, signed as they are: give the program an
    access key of yours. Other requests, and other programs, are not changed.
    """
    url = connect().url
    environment = {**os.environ, **redirection.variables(url, os.environ)}
    try:
        os.execvpe(command[0], list(command), environment)  # noqa: S606  # what the user typed
    except FileNotFoundError:
        click.echo(phrase("There is no program {name}.", name=command[0]), err=True)
        return NOT_FOUND
