"""Previews of files as the API answers them: those of storages and those of jobs alike."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from footplate.services.previews import Preview
from footplate.wire.storagefiles import entry_view


def preview_view(preview: Preview) -> dict[str, Any]:
    curves = preview.curves
    return {
        "entry": entry_view(preview.entry),
        "kind": preview.kind,
        "media_type": preview.media_type,
        "text": preview.text,
        "rows": preview.rows,
        "curves": None if curves is None else [asdict(curve) for curve in curves],
        "is_cut": preview.is_cut,
    }
