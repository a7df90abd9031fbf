"""WebSockets: counted at the door like all connections, for as long as they last."""

from __future__ import annotations

from collections.abc import Callable

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

# Of one message; what is larger is for plain requests.
MOST_BYTES = 1024**2
# Notebooks send whole figures; nobody gets that far without a cookie.
MOST_SERVICE_BYTES = 64 * 1024**2


class CountedWebSocket(WebSocketsSansIOProtocol):
    """Speaks as uvicorn does, and says when it is gone."""

    on_gone: Callable[[], None] | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self.on_gone is not None:
            self.on_gone()
        super().connection_lost(exc)
