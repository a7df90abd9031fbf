"""Passwords: asked for, or read from standard input, but never taken from the command line.

What stands on a command line is in the shell's history and in the list of processes, for everybody to read.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from footplate.cli.language import phrase

Function = TypeVar("Function", bound=Callable[..., Any])

# What an option is worth that came without a value.
ASK = "\0ask"

stdin_option = click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input, for scripts."
)


def refused_option(
    option: str, stdin: str = "--password-stdin", is_hidden: bool = True
) -> Callable[[Function], Function]:
    """Make an option that refuses a value and says what to type; without one it is `ASK`."""
    name = option.lstrip("-")

    def decorate(function: Function) -> Function:
        # Not in a callback of the option: the line to type needs the arguments, which are read after it.
        @functools.wraps(function)
        def checked(*words: Any, **given: Any) -> Any:
            if given[name] not in (None, ASK):
                raise _refusal(option, stdin, is_hidden)
            return function(*words, **given)

        asking = click.option(
            option,
            is_flag=False,
            flag_value=ASK,
            default=None,
            hidden=is_hidden,
            metavar="",
            help="Ask for a new password.",
        )
        return cast("Function", asking(checked))

    return decorate


def _refusal(option: str, stdin: str, is_hidden: bool) -> click.UsageError:
    ctx = click.get_current_context()
    line = " ".join((ctx.command_path, *_arguments(ctx)))
    asked = line if is_hidden else f"{line} {option}"
    # The value is not repeated: what a terminal shows may be recorded.
    return click.UsageError(
        phrase(
            "{option} takes no value: others could read it in the process list and in the shell's history. "
            "Type `{asked}` to be asked for it, or `{line} {stdin}` to send it on standard input",
            option=option,
            asked=asked,
            line=line,
            stdin=stdin,
        )
    )


def _arguments(ctx: click.Context) -> list[str]:
    """What the command was told beside its options, such as the name of a user, as far as it is read."""
    names = [param.name for param in ctx.command.params if isinstance(param, click.Argument)]
    return [str(ctx.params[name]) if ctx.params.get(name) else name.upper() for name in names if name]


def read_line(what: str) -> str:
    """Take one line of standard input; refuse when there is none."""
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise click.UsageError(phrase("standard input ended before {what}; send it as a line", what=what))
    return line


def current(from_stdin: bool, question: str = "") -> str:
    """Read the current password of an account: from standard input, the environment or a prompt."""
    if from_stdin:
        return read_line(phrase("the password"))
    given = os.environ.get("FOOTPLATE_PASSWORD")
    return given or str(click.prompt(question or phrase("Password"), hide_input=True, err=True))


def chosen(from_stdin: bool, question: str = "", variable: str = "") -> str:
    """A new password; typed twice where a person types it."""
    if from_stdin:
        return read_line(phrase("the new password"))
    given = os.environ.get(variable, "") if variable else ""
    again = phrase("Repeat the password")
    asked = question or phrase("New password")
    return given or str(click.prompt(asked, hide_input=True, confirmation_prompt=again, err=True))
