"""What the server does beside its calls and the lives of jobs: due models, and what is kept no longer."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from footplate.services import retention, uploadsweep
from footplate.services.duemodels import DueModels
from footplate.services.platform import Platform


def keep_house(platform: Platform, stack: AsyncExitStack) -> None:
    """Register due models, and remove what uploads and jobs have left for too long."""
    due = DueModels(platform)
    stack.callback(platform.store.subscribe(due.take))
    for name, work in (
        ("uploads", uploadsweep.keep_swept(platform)),
        ("models", due.keep()),
        ("retention", retention.keep_swept(platform)),
    ):
        stack.callback(asyncio.create_task(work, name=f"footplate-{name}").cancel)
