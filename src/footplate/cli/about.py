"""Verbs about the command itself: version, help, completion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import click

from footplate import __version__
from footplate.cli.cells import pad, width_of
from footplate.cli.language import phrase
from footplate.cli.session import connect, json_option, print_json
from footplate.cli.topics import TOPICS
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
        click.echo(phrase("server    {version} (API {api})", version=answer["version"], api=answer["api"]))


@click.command("help")
@click.argument("words", metavar="[VERB]...", nargs=-1)
@json_option
@click.pass_context
def help_(ctx: click.Context, words: tuple[str, ...], as_json: bool) -> None:
    """Explain one verb, or list all of them with an example each."""
    root = ctx.find_root()
    if words:
        # An unknown verb ends here, with a guess at what was meant.
        cast("click.Group", root.command).resolve_command(root, [words[0]])
    if as_json:
        chosen = [BY_NAME[words[0]]] if words else VERBS
        print_json(
            [{"verb": one.name, "summary": phrase(one.summary), "example": one.example} for one in chosen]
        )
    elif words:
        _explain(root, words)
        if len(words) == 1:
            click.echo(f"\n{phrase('Example:')}\n  {BY_NAME[words[0]].example}")
    else:
        _list_verbs()


def _explain(ctx: click.Context, words: Sequence[str]) -> None:
    """Print the help of a verb, or of a verb below a verb as in `queues create`."""
    if not words:
        click.echo(ctx.get_help())
        return
    if not isinstance(ctx.command, click.Group):
        ctx.fail(phrase("`{command}` has no verb {verb:quoted}", command=ctx.command_path, verb=words[0]))
    _, command, _ = ctx.command.resolve_command(ctx, [words[0]])
    assert command is not None
    with click.Context(command, info_name=words[0], parent=ctx) as inner:
        _explain(inner, words[1:])


def _list_verbs() -> None:
    click.echo(phrase("footplate VERB [OPTIONS]: submit training jobs, watch them, manage the platform."))
    width = max(len(one.name) for one in VERBS) + 2
    room = max(width_of(phrase(one.summary)) for one in VERBS) + 2
    for topic in TOPICS:
        click.echo("\n" + click.style(phrase(topic.title), underline=True))
        for one in map(BY_NAME.__getitem__, topic.verbs):
            name, example = click.style(one.name.ljust(width), bold=True), click.style(one.example, fg="cyan")
            click.echo(f"  {name}{pad(phrase(one.summary), room)}{example}")
    also = ", ".join(f"{alias} = {one.name}" for one in VERBS for alias in one.aliases)
    click.echo("\n" + phrase("Aliases: {aliases}.", aliases=also))
    click.echo(phrase("`footplate help VERB` explains one verb; those that answer something take --json."))


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that lets a shell complete verbs, options and job names."""
    from click.shell_completion import get_completion_class

    if kind := get_completion_class(shell):
        click.echo(kind(ctx.find_root().command, {}, "footplate", "_FOOTPLATE_COMPLETE").source())
