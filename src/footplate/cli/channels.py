"""The verb channels: where alerts are sent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.session import Function, confirm_deletion, connect, json_option, tell, yes_option
from footplate.cli.table import Row, print_items
from footplate.domain.alerts import LEVELS, ChannelKind
from footplate.sdk.client import Client

COLUMNS = ("NAME", "KIND", "TARGET", "QUEUE", "LANGUAGE", "QUIET", "ENABLED", "ID")
NONE = "No channels. Add one: footplate channels add NAME --kind mail ann@example.org"
KINDS = tuple(kind.value for kind in ChannelKind)

queue_option = click.option("-q", "--queue", help="A channel of this queue; its admins keep it.")


@click.group(cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def channels(ctx: click.Context, as_json: bool) -> None:
    """List channels, through which alerts are sent, or manage them."""
    if ctx.invoked_subcommand is None:
        _print_all(as_json)


@channels.command("list")
@json_option
def list_channels(as_json: bool) -> None:
    """List my channels, and those of queues that I administer."""
    _print_all(as_json)


def _print_all(as_json: bool) -> None:
    print_items(connect().channels(), COLUMNS, _row, phrase(NONE), as_json)


def _row(channel: Mapping[str, Any]) -> Row:
    return (
        channel["name"],
        channel["kind"],
        channel["target"],
        channel["queue"] or "",
        channel["language"],
        channel["quiet"],
        phrase("yes") if channel["is_enabled"] else phrase("no"),
        channel["id"],
    )


def _fields(function: Function) -> Function:
    """What `add` and `edit` can say of a channel."""
    options: tuple[Callable[[Function], Function], ...] = (
        click.option("--language", type=click.Choice(("en", "zh")), help="Language of notices."),
        click.option("--zone", help="Time zone, such as Asia/Shanghai."),
        click.option("--quiet", metavar="HOURS", help="Hours in which notices wait, such as 22:00-07:00."),
        click.option("--quiet-level", type=click.Choice(LEVELS), help="From this level on, nothing waits."),
        click.option("--sign", is_flag=True, help="Sign with a secret, which is asked for."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def _body(given: Mapping[str, Any]) -> dict[str, Any]:
    named = ("language", "zone", "quiet", "quiet_level")
    body = {name: given[name] for name in named if given[name] is not None}
    return {**body, "secret": _secret()} if given["sign"] else body


def _secret() -> str:
    """Ask for a secret, or read it from a pipe: an option would show it in the list of processes."""
    if sys.stdin.isatty():
        return str(click.prompt(phrase("Secret to sign with"), hide_input=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")


def find(client: Client, name: str, queue: str | None) -> dict[str, Any]:
    """One of my channels by name or id, or one of a queue."""
    wanted = [one for one in client.channels() if name in (one["name"], one["id"])]
    found = [one for one in wanted if one["id"] == name or (one["queue"] or None) == queue]
    if not found:
        raise click.ClickException(phrase("there is no channel {channel:quoted}", channel=name))
    return found[0]


@channels.command("add")
@click.argument("name")
@click.argument("address")
@click.option("--kind", type=click.Choice(KINDS), required=True, help="How it sends.")
@queue_option
@_fields
@json_option
def add(name: str, address: str, kind: str, queue: str | None, as_json: bool, **given: Any) -> None:
    """Add a channel to a mail address, or to the address of a webhook or robot; `-` reads the address."""
    address = sys.stdin.readline().strip() if address == "-" else address
    more = {"queue": queue} if queue else {}
    made = connect().add_channel(name, kind, address, **_body(given), **more)
    tell(
        made,
        phrase("Added channel {channel}. Try it: footplate channels test {channel}", channel=name),
        as_json,
    )


@channels.command("edit")
@click.argument("name")
@click.option("--address", help="Where it leads from now on.")
@click.option("--enable/--disable", "is_enabled", default=None, help="Whether it is used.")
@queue_option
@_fields
@json_option
def edit(
    name: str, address: str | None, is_enabled: bool | None, queue: str | None, as_json: bool, **given: Any
) -> None:
    """Change a channel; what is not given stays as it is."""
    more = {"address": address, "is_enabled": is_enabled}
    body = {**_body(given), **{key: value for key, value in more.items() if value is not None}}
    client = connect()
    changed = client.edit_channel(find(client, name, queue)["id"], **body)
    tell(changed, phrase("Changed channel {channel}.", channel=name), as_json)


@channels.command("test")
@click.argument("name")
@queue_option
@json_option
def test(name: str, queue: str | None, as_json: bool) -> None:
    """Send a notice through a channel now."""
    client = connect()
    client.test_channel(find(client, name, queue)["id"])
    tell(
        {"name": name, "is_sent": True},
        phrase("Channel {channel} took a test notice.", channel=name),
        as_json,
    )


@channels.command("delete")
@click.argument("name")
@queue_option
@yes_option
@json_option
def delete(name: str, queue: str | None, yes: bool, as_json: bool) -> None:
    """Delete a channel; what still waits for it is not sent."""
    client = connect()
    channel = find(client, name, queue)
    if not yes:
        confirm_deletion(phrase("channel {channel}", channel=name))
    client.delete_channel(channel["id"])
    tell({"name": name, "is_deleted": True}, phrase("Deleted channel {channel}.", channel=name), as_json)
