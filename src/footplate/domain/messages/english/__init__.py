"""The English sentences, by code."""

from footplate.domain.messages.english.words import WORDS
from footplate.domain.messages.tables import gather

__all__ = ["SENTENCES", "WORDS"]

SENTENCES = gather(__name__)
