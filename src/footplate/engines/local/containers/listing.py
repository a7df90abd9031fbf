"""Lists containers, also while Podman removes one, or was killed when it did."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Sequence

from footplate.engines.local.containers.api import INTERNAL_ERROR, ContainerApi, Document, Refused

WITHIN_S = 10
AGAIN_AFTER_S = 0.1
_HALF_REMOVED = re.compile(r'getting container from store "([0-9a-f]{12,64})": container not known')

log = logging.getLogger(__name__)


async def containers_with(api: ContainerApi, label: str) -> Sequence[Document]:
    """List the containers with a label, be they running or not."""
    give_up_at = time.monotonic() + WITHIN_S
    while True:
        try:
            return await api.containers(label)
        except Refused as error:
            # Podman lists nothing while somebody removes one of the containers.
            if error.status != INTERNAL_ERROR or time.monotonic() > give_up_at:
                raise
            half_removed = _HALF_REMOVED.search(error.message)
            if half_removed:
                # Nor ever again where it was killed during that: somebody must end what was begun.
                log.warning("container %s was removed by half: it is removed now", half_removed[1])
                await api.remove(half_removed[1])
            await asyncio.sleep(AGAIN_AFTER_S)
