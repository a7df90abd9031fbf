"""Messages for the reader of the command's output: in their language, by their clock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import click

from footplate.cli.language import language_of
from footplate.domain.errors import Problem
from footplate.domain.messages import Message, say
from footplate.domain.messages.render import render
from footplate.sdk.errors import message_in


def told(said: Message) -> str:
    """A message in the reader's language, with times by the reader's clock."""
    return render(said, language_of(), datetime.astimezone)


def told_in(body: Mapping[str, Any] | None) -> str:
    """What a part of an answer says; nothing where it says nothing."""
    return told(message_in(body)) if body else ""


def warn(answer: Mapping[str, Any]) -> None:
    """Print what an answer warns of, beside what it is."""
    for warning in answer.get("warnings", ()):
        click.echo(told(say("warning", what=message_in(warning))), err=True)


def problem_told(problem: Problem) -> str:
    return told(say("problem", path=problem.path, why=problem.said))
