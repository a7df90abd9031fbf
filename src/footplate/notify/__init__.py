"""Sending of notices: mail, signed webhooks, and the robots of chat services."""
