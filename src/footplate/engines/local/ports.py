"""Ports of this machine that strangers use."""

from __future__ import annotations

import socket


def is_free(port: int) -> bool:
    """Tell whether nobody listens on a port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
