"""Bodies of the REST API for engines."""

from __future__ import annotations

from pydantic import Field

from footplate.wire.body import Body, Told


class EngineBody(Body):
    name: str
    is_default: bool
    places_itself: bool = Field(description="Whether its own scheduler decides where and when jobs start.")
    chooses: list[str] = Field(description="What it chooses by itself: nodes, cards, ports.")
    limits: list[str] = Field(description="What tasks are held to.")
    runs_images: bool
    runs_commands: bool = Field(description="Whether commands can be run inside tasks.")
    away: Told | None = Field(description="Why it cannot be used now; null when it can.")


class Engines(Body):
    items: list[EngineBody]
