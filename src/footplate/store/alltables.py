"""Every table there is, whichever module describes it."""

from __future__ import annotations

from footplate.store import grouptables, modeltables, tables

metadata = tables.metadata

__all__ = ["grouptables", "metadata", "modeltables", "tables"]
