"""The reader's language: which one it is, and the command's own words in it.

The English of a word is what the code says; `footplate.cli.chinese` has the rest. Only what a reader of
another language is shown is looked up, so that a command in English loads no table.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import Any

# As programs with translations do: the first that is set decides.
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
UNTRANSLATED = ("", "C", "POSIX")


def language_of(environment: Mapping[str, str] = os.environ) -> str:
    """The language that the environment asks for, where it is one of ours; else English."""
    wanted = next((environment[name] for name in VARIABLES if environment.get(name)), "")
    if wanted.partition(".")[0] not in UNTRANSLATED:
        # A list of languages, which counts only where there is a locale at all.
        wanted = environment.get("LANGUAGE", "").partition(":")[0] or wanted
    return "zh" if wanted.lower().startswith("zh") else "en"


def phrase(text: str, **params: Any) -> str:
    """Say in the reader's language what `text` says in English; with parameters it is a template."""
    language = language_of()
    if language == "zh":
        from footplate.cli.chinese import CHINESE

        text = CHINESE.get(text, text)
    if not params:
        return text
    from footplate.domain.messages.render import fill

    return fill(text, params, language, datetime.astimezone)
