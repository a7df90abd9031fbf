"""Helpers that run inside tasks, beside the user's process: standard library only, Python 3.8 or later."""
