"""Alerts: who is told what, through which channels, once."""
