"""What is said to people, as answers carry it: code and parameters for programs, and an English text."""

from __future__ import annotations

from typing import Any

from footplate.domain.errors import FootplateError, InvalidInput, Problem
from footplate.domain.messages import Message, as_json
from footplate.domain.messages.render import language
from footplate.domain.messages.signature import signature

View = dict[str, Any]


def told(said: Message) -> View:
    """Show a message; its text is English, with times in UTC."""
    return {"message": str(said), "message_code": said.code, "params": as_json(said.params)}


def message_list() -> View:
    """List every sentence with its parameters, for the published description."""
    return {
        code: {
            "english": sentence,
            "params": {one.name: {"kind": one.kind, "optional": one.is_optional} for one in signature(code)},
        }
        for code, sentence in language("en").sentences.items()
    }


def problem_view(problem: Problem) -> View:
    return {"path": problem.path, **told(problem.said)}


def error_view(error: FootplateError, request_id: str = "") -> View:
    """Show an error as every refused request is answered."""
    problems = error.problems if isinstance(error, InvalidInput) else ()
    return {
        "code": error.code,
        **told(error.said),
        "problems": [problem_view(problem) for problem in problems],
        "request_id": request_id,
    }
