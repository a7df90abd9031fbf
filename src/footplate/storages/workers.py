"""Does many pieces of work at once, in threads that are daemons.

One that waits for a dead file server cannot be ended, only left.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator


class Stopped(Exception):
    """Nobody wants it any more."""


def do_all(work: Iterator[Callable[[], None]], n_threads: int, is_stopped: threading.Event) -> None:
    """Do all pieces; raise the first error, after which nothing more is begun, or `Stopped`."""
    turn, errors = threading.Lock(), list[BaseException]()

    def serve() -> None:
        try:
            while not errors and not is_stopped.is_set():
                with turn:
                    piece = next(work, None)
                if piece is None:
                    return
                piece()
        except BaseException as error:  # noqa: BLE001  # the top of this thread: whoever waits gets it
            errors.append(error)

    threads = [threading.Thread(target=serve, name="footplate-files", daemon=True) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    if is_stopped.is_set():
        raise Stopped
