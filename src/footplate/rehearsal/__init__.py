"""Runs a job file on this machine without a server, by the same rules."""
