"""The verb frameworks: what a job can name instead of an image and packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.session import confirm_deletion, connect, json_option, tell, yes_option
from footplate.cli.table import Row, print_items

COLUMNS = ("NAME", "VERSION", "DEFAULT", "STRATEGIES", "RUNS IN", "DESCRIPTION")


@click.group(cls=Nouns, invoke_without_command=True)
@json_option
@click.pass_context
def frameworks(ctx: click.Context, as_json: bool) -> None:
    """List the frameworks that a job can name, with versions and strategies; or manage them (admin)."""
    if ctx.invoked_subcommand is None:
        _print_all(as_json)


@frameworks.command("list")
@json_option
def list_frameworks(as_json: bool) -> None:
    """List the frameworks that a job can name, with versions and strategies."""
    _print_all(as_json)


def _print_all(as_json: bool) -> None:
    empty = phrase("There are no frameworks: jobs name images, packages and strategies.")
    print_items(connect().frameworks(), COLUMNS, _row, empty, as_json)


def _row(one: Mapping[str, Any]) -> Row:
    return (
        one["name"],
        one["version"],
        phrase("yes") if one["is_default"] else "",
        ", ".join(one["strategies"]) or phrase("all"),
        _surroundings(one),
        one["description"],
    )


def _surroundings(one: Mapping[str, Any]) -> str:
    """Name the image and the packages of a framework."""
    environment = one["environment"] or {}
    packages = environment.get("path") or ", ".join(environment.get("requirements", ()))
    return " + ".join(filter(None, (one["image"], packages)))


@frameworks.command("set")
@click.argument("name")
@click.argument("version")
@click.option("--image", help="Image that its jobs run in: a name of the catalogue, or a reference.")
@click.option(
    "--requirement",
    "requirements",
    multiple=True,
    help="Package of its jobs, such as torch==2.4; may be repeated.",
)
@click.option("--path", help="Folder of an environment that exists, as tasks see it, instead of packages.")
@click.option("--python", help="Python version for the packages, such as 3.12.")
@click.option(
    "--strategy", "strategies", multiple=True, help="Strategy that it offers; may be repeated (default: all)."
)
@click.option("--default-strategy", "strategy", help="Strategy of jobs that name none.")
@click.option("--description", help="What it is for.")
@click.option("--position", type=int, help="Frameworks with a lower position are listed first.")
@json_option
def set_framework(
    name: str,
    version: str,
    requirements: tuple[str, ...],
    path: str | None,
    python: str | None,
    as_json: bool,
    **fields: Any,
) -> None:
    """Add a version of a framework, or change the given fields of one."""
    given = {field: value for field, value in fields.items() if value not in (None, ())}
    packages = {"requirements": list(requirements), "path": path, "python": python}
    if environment := {field: value for field, value in packages.items() if value}:
        given["environment"] = environment
    if "strategies" in given:
        given["strategies"] = list(given["strategies"])
    made = connect().set_framework(name, version, **given)
    told = phrase("Set framework {framework}.", framework=f"{name}:{version}")
    tell(made, told, as_json)


@frameworks.command("delete")
@click.argument("name")
@click.argument("version")
@yes_option
@json_option
def delete(name: str, version: str, yes: bool, as_json: bool) -> None:
    """Delete a version of a framework; jobs that have it are not affected."""
    label = f"{name}:{version}"
    if not yes:
        confirm_deletion(phrase("framework {framework}", framework=label))
    connect().delete_framework(name, version)
    told = phrase("Deleted framework {framework}.", framework=label)
    tell({"name": name, "version": version, "is_deleted": True}, told, as_json)
