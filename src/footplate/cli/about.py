"""Verbs about the command itself: version, help, completion."""

from __future__ import annotations

from typing import cast

import click

from footplate import __version__
from footplate.cli.session import connect, json_option, print_json
from footplate.cli.verbs import BY_NAME, VERBS

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.option("--server", is_flag=True, help="Ask the server for its version too.")
@json_option
def version(server: bool, as_json: bool) -> None:
    """Print the version of this command, and of the server if asked."""
    answer = connect().version() if server else None
    if as_json:
        print_json({"version": __version__, **({"server": answer} if answer else {})})
        return
    click.echo(f"footplate {__version__}")
    if answer:
        click.echo(f"server    {answer['version']} (api {answer['api']})")


@click.command("help")
@click.argument("verb", required=False)
@json_option
@click.pass_context
def help_(ctx: click.Context, verb: str | None, as_json: bool) -> None:
    """Explain one verb, or list all of them with an example each."""
    if as_json:
        print_json([{"verb": one.name, "summary": one.summary, "example": one.example} for one in VERBS])
    elif verb is None:
        _list_verbs()
    else:
        _explain(ctx.find_root(), verb)


def _explain(root: click.Context, verb: str) -> None:
    _, command, _ = cast("click.Group", root.command).resolve_command(root, [verb])
    if command is not None:
        with click.Context(command, info_name=verb, parent=root) as inner:
            click.echo(command.get_help(inner))
        click.echo(f"\nExample:\n  {BY_NAME[verb].example}")


def _list_verbs() -> None:
    click.echo("footplate VERB [OPTIONS]: submit training jobs, watch them, manage the platform.\n")
    width = max(len(one.name) for one in VERBS) + 2
    room = max(len(one.summary) for one in VERBS) + 2
    for one in VERBS:
        example = click.style(one.example, fg="cyan")
        click.echo(f"  {click.style(one.name.ljust(width), bold=True)}{one.summary.ljust(room)}{example}")
    also = ", ".join(f"{alias} = {one.name}" for one in VERBS for alias in one.aliases)
    click.echo(
        f"\nAlso understood: {also}.\n`footplate help VERB` explains one verb; every verb takes --json."
    )


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that lets a shell complete verbs, options and job names."""
    from click.shell_completion import get_completion_class

    if kind := get_completion_class(shell):
        click.echo(kind(ctx.find_root().command, {}, "footplate", "_FOOTPLATE_COMPLETE").source())
