"""Images that admins recommend, under short names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Image:
    """One entry of the catalogue; the default is the one that people are offered first."""

    name: str
    reference: str
    description: str = ""
    framework: str = ""
    version: str = ""
    is_default: bool = False
    created_at: float = 0.0
    updated_at: float = 0.0
