"""The verb settings: how the server is set up, and what of that changes while it runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.session import connect, json_option, print_json, tell
from footplate.cli.table import Row, print_table
from footplate.domain.errors import NotFound

COLUMNS = ("NAME", "VALUE", "FROM", "CHANGES")
MOST_SHOWN = 60


@click.group("settings", cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def settings(ctx: click.Context, as_json: bool) -> None:
    """Show the settings of the server, and change those that can be while it runs (admin)."""
    if ctx.invoked_subcommand is None:
        _print_all(as_json)


@settings.command("list")
@json_option
def list_settings(as_json: bool) -> None:
    """List all settings: what holds, who says so, and whether it can be changed here."""
    _print_all(as_json)


def _print_all(as_json: bool) -> None:
    found = connect().server_settings()
    if as_json:
        print_json(found)
        return
    print_table(COLUMNS, [_row(one) for one in found["items"]], "")
    click.echo(phrase("All others are changed in {file}, and hold after a restart.", file=found["file"]))


def _row(one: Mapping[str, Any]) -> Row:
    value = _shown(one["value"])
    short = value if len(value) <= MOST_SHOWN else value[: MOST_SHOWN - 1] + "…"
    return one["name"], short, _source(one["source"]), phrase("here") if one["is_live"] else ""


def _shown(value: Any) -> str:
    if value in (None, "", [], {}):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _source(name: str) -> str:
    """Say who set it; what is not known here is the name of a variable."""
    known = {
        "default": phrase("default"),
        "file": phrase("file"),
        "command_line": phrase("command line"),
        "console": phrase("admin"),
    }
    return known.get(name, name)


@settings.command("get")
@click.argument("name")
@json_option
def get(name: str, as_json: bool) -> None:
    """Print what the setting NAME is."""
    items = connect().server_settings()["items"]
    found = next((one for one in items if one["name"] == name), None)
    if found is None:
        raise NotFound("no_setting", setting=name[:64])
    tell(found, _shown(found["value"]), as_json)


@settings.command("set")
@click.argument("name")
@click.argument("value")
@json_option
def set_setting(name: str, value: str, as_json: bool) -> None:
    """Change the setting NAME to VALUE, at once and for good; none: no bound.

    Such are trash_kept, idle_limit, retry_pause, retry_pause_most, job_quota and person_quota, unless
    settings.toml says what they are.
    """
    wanted: str | int | None = int(value) if value.isdecimal() else value
    if value == "none":
        wanted = None
    connect().set_setting(name, wanted)
    told = phrase("Set {setting} to {value}.", setting=name, value=value)
    tell({"name": name, "value": wanted}, told, as_json)


@settings.command("reset")
@click.argument("name")
@json_option
def reset(name: str, as_json: bool) -> None:
    """Give the setting NAME its default again."""
    connect().reset_setting(name)
    tell({"name": name, "is_reset": True}, phrase("{setting} has its default again.", setting=name), as_json)
