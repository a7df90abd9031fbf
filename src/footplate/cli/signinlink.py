"""The verb open: a link that opens the console, or a service of a job, in a browser."""

from __future__ import annotations

import webbrowser
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import click

from footplate.cli.language import phrase
from footplate.cli.session import complete_job, connect, duration, json_option, print_json


@click.command()
@click.argument("words", metavar="[JOB... [SERVICE]]", nargs=-1, shell_complete=complete_job)
@click.option(
    "--expires", type=duration, default="10m", show_default=True, help="How long the link is valid."
)
@click.option("-t", "--task", help="Task of the service, such as worker/0 (default: the first).")
@click.option("--print", "only_prints", is_flag=True, help="Print the address of the service, open nothing.")
@json_option
def open_(words: tuple[str, ...], expires: int, task: str | None, only_prints: bool, as_json: bool) -> None:
    """Print a link that opens the console in a browser, signed in as you.

    It leads to the page of JOB, or to the dashboard. It is good once: whoever follows it first is you.

    With a SERVICE, open that of JOB: jupyter, tensorboard, desktop, or the number of a port at which the job
    listens. It is started unless it runs, and ends an hour after the last use. TensorBoard opens also after
    the end of a job, and for several jobs at once.
    """
    if len(words) > 1:
        _open_service(words[:-1], words[-1], task, only_prints, as_json)
        return
    client, job = connect(), words[0] if words else None
    path = f"/jobs/{client.job(job).id}" if job else "/"
    made = client.sign_in_link(path, expires_in_s=expires)
    made["link"] = _reachable(made["link"], client.url)
    if as_json:
        print_json(made)
        return
    click.echo(made["link"])
    told = phrase("Open it in a browser: it works once, until {until:time}.", until=made["expires_at"])
    click.echo(told, err=True)


def _open_service(
    jobs: tuple[str, ...], service: str, task: str | None, only_prints: bool, as_json: bool
) -> None:
    client = connect()
    opened = client.job(jobs[0]).open_service(service, task, jobs[1:])
    opened["url"] = with_host(opened["url"], client.url)
    if as_json:
        print_json(opened)
        return
    show_service(opened, client.url, only_prints)


def show_service(opened: dict[str, Any], url: str, only_prints: bool) -> None:
    """Print the address of a service for a browser, and open it where there is one."""
    from footplate.sdk.connection import is_loopback

    # A name below localhost is found on the machine of the server only.
    address = opened["browser_url"] if is_loopback(url) else opened["url"]
    click.echo(address)
    if only_prints or not webbrowser.open(address):
        click.echo(phrase("Open it in a browser within a minute: it works once."), err=True)


def with_host(link: str, url: str) -> str:
    """The link at the host that this command used, where the server knows only its own loopback."""
    from footplate.sdk.connection import is_loopback

    parts, used = urlsplit(link), urlsplit(url)
    if not is_loopback(link) or not used.hostname:
        return link
    host = f"[{used.hostname}]" if ":" in used.hostname else used.hostname
    return urlunsplit(parts._replace(netloc=f"{host}:{parts.port}"))


def _reachable(link: str, url: str) -> str:
    """The link at the address that this command used, where the server knows only its own loopback."""
    from footplate.sdk.connection import is_loopback

    if not is_loopback(link):
        return link
    parts, used = urlsplit(link), urlsplit(url)
    return urlunsplit(parts._replace(scheme=used.scheme, netloc=used.netloc))
