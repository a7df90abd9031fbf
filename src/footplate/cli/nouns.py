"""Verbs that stand for a kind of thing, such as `queues`, and know the words that people try below them."""

from __future__ import annotations

import click

LIST = ("list", "ls")
# What people type, and what it may be called where it is; the first that is there is meant.
MEANT = {
    "add": ("create", "set", "register"),
    "create": ("add", "set", "register"),
    "new": ("create", "add", "set", "register"),
    "edit": ("set",),
    "delete": ("remove", "revoke"),
    "remove": ("delete", "revoke"),
    "rm": ("delete", "remove", "revoke"),
    "info": ("show", "describe"),
}


class Nouns(click.Group):
    """Lists its things when nothing follows, and knows other words for the commands below it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        lists_by_itself = args[:1] and args[0] in LIST and super().get_command(ctx, args[0]) is None
        return super().parse_args(ctx, args[1:] if lists_by_itself else args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if found := super().get_command(ctx, cmd_name):
            return found
        meant = (super(Nouns, self).get_command(ctx, word) for word in MEANT.get(cmd_name, ()))
        return next((command for command in meant if command), None)
