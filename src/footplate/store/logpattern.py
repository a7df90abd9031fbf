"""Regular expressions of users over the logs of their tasks, matched in time that grows with the log alone.

RE2 never goes back in the text, so that no expression can hold the server up. Counts in braces can make an
expression large, and the time grows with its size as well: that is bounded.
"""

from __future__ import annotations

from collections.abc import Callable

import re2

Matcher = Callable[[str], bool]

# Of RE2's own instructions: about a second for the part of a log that is searched.
LARGEST = 2500


def expression_in(words: str) -> str | None:
    """The regular expression between slashes; None for plain text."""
    return words[1:-1] if len(words) > 2 and words[0] == words[-1] == "/" else None


def compile_expression(expression: str) -> Matcher:
    """Make the search for an expression in a text of many lines; `ValueError` says what is wrong with it."""
    try:
        compiled = re2.compile(f"(?m){expression}", _options())
    except re2.error as error:
        raise ValueError(_words_of(error).replace("(?m)", "", 1)) from error
    if compiled.programsize > LARGEST:
        raise ValueError("it is too large: use smaller counts in braces")
    return lambda text: compiled.search(text) is not None


def compile_groups(expression: str) -> re2._Regexp[str]:
    """Make a pattern whose named groups are read; `ValueError` says what is wrong with it."""
    options = _options()
    options.never_capture = False
    try:
        compiled = re2.compile(expression, options)
    except re2.error as error:
        raise ValueError(_words_of(error)) from error
    if compiled.programsize > LARGEST:
        raise ValueError("it is too large: use smaller counts in braces")
    return compiled


def _options() -> re2.Options:
    options = re2.Options()
    options.never_capture = True
    options.log_errors = False
    return options


def _words_of(error: re2.error) -> str:
    (words,) = error.args
    return words.decode(errors="replace") if isinstance(words, bytes) else str(words)
