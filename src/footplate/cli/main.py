"""The entry point: finds the verb, runs it, and turns errors into messages and exit codes."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from footplate import __version__
from footplate.cli.language import language_of, phrase
from footplate.cli.session import INTERRUPTED, was_unanswered
from footplate.cli.topics import TOPICS
from footplate.cli.verbs import BY_NAME, MEANT, VERBS
from footplate.domain.errors import FootplateError, InvalidInput


class Verbs(click.Group):
    """Loads the module of a verb only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [verb.name for verb in VERBS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        verb = BY_NAME.get(cmd_name)
        if verb is None:
            return None
        module, _, attribute = verb.home.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return _in_readers_language(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in BY_NAME:
            near = MEANT.get(args[0]) or next(iter(difflib.get_close_matches(args[0], BY_NAME, 1)), None)
            if near:
                asked = {"verb": args[0], "near": near}
                ctx.fail(phrase("there is no verb {verb:quoted}; did you mean `footplate {near}`?", **asked))
            ctx.fail(phrase("there is no verb {verb:quoted}; `footplate help` lists them all", verb=args[0]))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        such_as, width = phrase("e.g."), max(len(verb.name) for verb in VERBS)
        for topic in TOPICS:
            verbs = [BY_NAME[name] for name in topic.verbs]
            with formatter.section(phrase(topic.title)):
                formatter.write_dl(
                    [
                        (verb.name.ljust(width), f"{phrase(verb.summary)}  {such_as} {verb.example}")
                        for verb in verbs
                    ]
                )


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    subcommand_metavar="VERB [ARGS]...",
)
@click.version_option(__version__, message="footplate %(version)s")
@click.option("--url", metavar="URL", help="Address of the server; overrides FOOTPLATE_URL and the login.")
@click.pass_context
def cli(ctx: click.Context, url: str | None) -> None:  # noqa: ARG001  # `session.asked_url` looks it up
    """Submit training jobs, watch them, and manage the platform they run on."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave the process with its exit code."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 only when what was asked happened."""
    if language_of() == "en":
        return _run(cli, arguments)
    from footplate.cli.translated import speaking

    with speaking():
        return _run(_in_readers_language(cli), arguments)


def _in_readers_language(command: click.Command) -> click.Command:
    if language_of() == "en":
        return command
    from footplate.cli.translated import in_readers_language

    return in_readers_language(command)


def _run(root: click.Command, arguments: Sequence[str] | None) -> int:
    try:
        result = root.main(args=arguments, prog_name="footplate", standalone_mode=False)
        sys.stdout.flush()
    except click.UsageError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        return _fail(error.format_message())
    except click.Abort as abort:
        if was_unanswered(abort):
            click.echo(err=True)
            return _fail(phrase("the input has ended without an answer: see the options with --help"))
        click.echo(phrase("interrupted"), err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has left; Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except FootplateError as error:
        return _explain(error)
    return result if isinstance(result, int) else 0


def _explain(error: FootplateError) -> int:
    # Not at the top: commands that go well tell nothing.
    from footplate.cli.hints import hint_for
    from footplate.cli.reader import problem_told, told
    from footplate.domain.messages import say

    problems = error.problems if isinstance(error, InvalidInput) else ()
    if len(problems) > 1:
        lines = "".join(f"\n  {problem_told(problem)}" for problem in problems)
        result = _fail(told(say("things_to_change", n=len(problems))) + lines)
    else:
        result = _fail(told(error.said))
    for said in [problem.said for problem in problems] or [error.said]:
        if hint := hint_for(said):
            click.echo(f"  {hint}", err=True)
    return result


def _fail(message: str) -> int:
    mark = click.style(phrase("error:"), fg="red", bold=True)
    click.echo(f"{mark} {message}", err=True)
    return 1
