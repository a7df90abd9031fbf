"""Regular expressions of users over the logs of their tasks, matched in time that grows with the log alone.

The engine behind them never goes back in the text, so that no expression can hold the server up; counts in
braces are refused since they alone can make an expression large.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pydantic_core import SchemaError, SchemaValidator, core_schema

Matcher = Callable[[str], bool]


def expression_in(words: str) -> str | None:
    """The expression between slashes; None for words that are looked for as they are."""
    return words[1:-1] if len(words) > 2 and words[0] == words[-1] == "/" else None


def compile_expression(expression: str) -> Matcher:
    """Make the search for an expression in a text of many lines; `ValueError` says what is wrong with it."""
    if _has_braces(expression):
        raise ValueError(r"counts in braces are not supported: write \d+ or \d\d, or \{ for a brace")
    schema = core_schema.str_schema(pattern=f"(?m){expression}", regex_engine="rust-regex")
    try:
        return SchemaValidator(schema).isinstance_python
    except SchemaError as error:
        # Its text quotes the expression over several lines before it says what is wrong.
        raise ValueError(re.split(r"error: |SchemaError: ", str(error))[-1].strip()) from error


def _has_braces(expression: str) -> bool:
    return "{" in re.sub(r"\\[^pPxuU]", "", expression)
