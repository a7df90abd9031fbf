"""Puts the sentences of a language together: a table for each noun, and each code in one of them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

NOUNS = (
    "accounts",
    "alerts",
    "backups",
    "choices",
    "client",
    "clouds",
    "dialects",
    "doctor",
    "documents",
    "engines",
    "environments",
    "events",
    "ffdl",
    "fields",
    "files",
    "jobs",
    "metrics",
    "models",
    "nodes",
    "notebooks",
    "queues",
    "rehearsal",
    "running",
    "secrets",
    "server",
    "settings",
    "shells",
    "slurm",
    "staging",
    "storages",
    "strategies",
    "tasks",
    "waiting",
)


def gather(package: str) -> dict[str, str]:
    """Read the tables of a package; raise `ValueError` for a code that stands in two of them."""
    sentences: dict[str, str] = {}
    for noun in NOUNS:
        table: Mapping[str, str] = import_module(f"{package}.{noun}").TABLE
        if twice := sentences.keys() & table.keys():
            raise ValueError(f"{', '.join(sorted(twice))} of {noun} stands in another table too")
        sentences |= table
    return sentences
