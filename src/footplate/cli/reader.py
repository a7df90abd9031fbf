"""The reader of the command's output: their language, by the environment, and their clock."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from footplate.domain.errors import Problem
from footplate.domain.messages import Message, say
from footplate.domain.messages.render import render
from footplate.sdk.errors import message_in

# As programs with translations do: the first that is set decides.
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


def language_of(environment: Mapping[str, str] = os.environ) -> str:
    """The language that the environment asks for, where it is one of ours; else English."""
    wanted = next((environment[name] for name in VARIABLES if environment.get(name)), "")
    return "zh" if wanted.lower().startswith("zh") else "en"


def told(said: Message) -> str:
    """A message in the reader's language, with times by the reader's clock."""
    return render(said, language_of(), datetime.astimezone)


def told_in(body: Mapping[str, Any] | None) -> str:
    """What a part of an answer says; nothing where it says nothing."""
    return told(message_in(body)) if body else ""


def problem_told(problem: Problem) -> str:
    return told(say("problem", path=problem.path, why=problem.said))
