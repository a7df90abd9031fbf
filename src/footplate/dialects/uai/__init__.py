"""UAI-Train: the requests that its tools send, and the answers that they read."""
