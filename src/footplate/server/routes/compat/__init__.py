"""Answers to the clients of other systems, on the port of our own calls."""
