"""What a translation of a foreign job file is: our document, and what became of its fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from footplate.domain.errors import InvalidInput, Problem
from footplate.domain.messages import Message, say

# Where in a document stands which folders of another system it is about, by what each is here.
MANIFEST_FOLDERS = "manifest_folders"
DATA_PATH = "/mnt/data"


@dataclass(frozen=True, slots=True)
class Translation:
    """A job document of ours, made from the text of another dialect.

    `text` is the original with its secrets masked; empty where the document says something else by now.
    `converted` and `lost` tell what became of its fields.
    `places` says which field of the original a field of the document comes from.
    `names_repeat` where names of jobs of that system need not be unique.
    """

    dialect: str
    document: Mapping[str, Any]
    text: str
    converted: tuple[Message, ...] = ()
    lost: tuple[Message, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    names_repeat: bool = False

    @contextmanager
    def naming_its_fields(self) -> Iterator[None]:
        """Let refusals name fields as the original has them."""
        try:
            yield
        except InvalidInput as refusal:
            problems = [Problem(place_of(one.path, self.places), one.said) for one in refusal.problems]
            raise type(refusal)(problems) from refusal


@dataclass(frozen=True, slots=True)
class Written:
    """A job as a text of another dialect, and what that dialect cannot say."""

    text: str
    lost: tuple[Message, ...] = ()


@dataclass(slots=True)
class Notes:
    """Gathers what becomes of the fields of a foreign file."""

    converted: list[Message] = field(default_factory=list)
    lost: list[Message] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)

    def became(self, theirs: str, ours: str) -> None:
        """Note that a field became one of ours; entries of lists and roles are told of once."""
        self.places[ours] = theirs
        if _any_entry(theirs) == _any_entry(ours):
            return
        said = say("field_became", field=_any_entry(theirs), became=_any_entry(ours))
        if said not in self.converted:
            self.converted.append(said)

    def lose(self, said: Message) -> None:
        if said not in self.lost:
            self.lost.append(said)

    def told(self, dialect: str, document: Mapping[str, Any], text: str) -> Translation:
        return Translation(dialect, document, text, tuple(self.converted), tuple(self.lost), self.places)


def _any_entry(path: str) -> str:
    return re.sub(r"taskRoles\.[^.\[]+", "taskRoles.*", re.sub(r"\[\d+\]", "[]", path))


def place_of(path: str, places: Mapping[str, str]) -> str:
    """Name a field of a document as the original does; one that comes from nowhere keeps its name."""
    inner = [ours for ours in places if path == ours or path.startswith((f"{ours}.", f"{ours}["))]
    if not inner:
        return path
    nearest = max(inner, key=len)
    return places[nearest] + path[len(nearest) :]
