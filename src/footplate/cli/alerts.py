"""The verb alerts: what was told, and what is to be told."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.channels import find
from footplate.cli.language import phrase
from footplate.cli.nouns import Nouns
from footplate.cli.reader import told, told_in
from footplate.cli.render import show_ago
from footplate.cli.session import connect, json_option, tell
from footplate.cli.table import Row, print_items
from footplate.domain.alerts import LEVELS, OF_JOBS, OF_PLATFORM

COLUMNS = ("WHEN", "LEVEL", "ALERT", "JOB", "STATE", "CHANNEL", "ID")
RULE_COLUMNS = ("ID", "ON", "LEVEL", "QUEUE", "CHANNELS", "EVERY")
NONE = "Nothing was told yet."
NO_RULES = "No rules. Add one: footplate alerts add failed --level major"
WORDS = (*OF_JOBS, *OF_PLATFORM)


@click.group(cls=Nouns, invoke_without_command=True)
@click.option("--job", default="", help="Only what was told about this job, by id.")
@click.option("-n", "--limit", default=50, type=click.IntRange(1, 500), help="How many.")
@json_option
@click.pass_context
def alerts(ctx: click.Context, job: str, limit: int, as_json: bool) -> None:
    """List what was told to me, newest first, or manage what is to be told."""
    if ctx.invoked_subcommand is None:
        client = connect()
        names = {one["id"]: one["name"] for one in client.channels()}

        def row(one: Mapping[str, Any]) -> Row:
            return _row(one, names)

        print_items(client.alerts(job=job, limit=limit), COLUMNS, row, phrase(NONE), as_json)


def _row(one: Mapping[str, Any], names: Mapping[str, str]) -> Row:
    channel = one["channel"] or ""
    return (
        show_ago(one["at"]),
        one["level"],
        told_in(one["title"]),
        one["job_id"] or "",
        one["state"],
        names.get(channel, channel),
        one["id"],
    )


@alerts.command("rules")
@json_option
def rules(as_json: bool) -> None:
    """List my rules, and those of queues that I administer."""
    client = connect()
    names = {one["id"]: one["name"] for one in client.channels()}

    def row(rule: Mapping[str, Any]) -> Row:
        chosen = ", ".join(names.get(one, one) for one in rule["channels"]) or phrase("all")
        every = "" if rule["every_s"] is None else f"{rule['every_s']}s"
        return rule["id"], ", ".join(rule["on"]), rule["level"], rule["queue"] or "", chosen, every

    print_items(client.alert_rules(), RULE_COLUMNS, row, phrase(NO_RULES), as_json)


@alerts.command("add")
@click.argument("on", nargs=-1, required=True, type=click.Choice(WORDS))
@click.option(
    "--level", type=click.Choice(LEVELS), default="info", show_default=True, help="How grave it is."
)
@click.option("-q", "--queue", help="Of all jobs of this queue (its admins); else of my own.")
@click.option("-c", "--channel", "channels", multiple=True, help="Channel, by name; all when none is named.")
@click.option("--after", metavar="DURATION", help="For overtime and no_progress: after how long.")
@click.option("--every", metavar="DURATION", help="Tell again after this long.")
@click.option("--metric", help="For metric: its name.")
@click.option("--above", type=float, help="For metric: told when it is above this.")
@click.option("--below", type=float, help="For metric: told when it is below this.")
@json_option
def add(
    on: tuple[str, ...], level: str, queue: str | None, channels: tuple[str, ...], as_json: bool, **given: Any
) -> None:
    """Have something told of all my jobs, of all jobs of a queue, or of the platform (admin)."""
    client = connect()
    body: dict[str, Any] = {"level": level, **({"queue": queue} if queue else {})}
    if channels:
        body["channels"] = [find(client, name, queue)["id"] for name in channels]
    for option, field in (("after", "after_s"), ("every", "every_s")):
        if given[option] is not None:
            body[field] = _seconds(given[option])
    body |= {name: given[name] for name in ("metric", "above", "below") if given[name] is not None}
    made = client.add_alert_rule(on, **body)
    tell(made, phrase("Added rule {rule}.", rule=made["id"]), as_json)


def _seconds(text: str) -> int:
    from footplate.domain.kinds import Duration
    from footplate.domain.problems import Problems

    problems = Problems()
    seconds = Duration(1, 365 * 86400).read(int(text) if text.isdigit() else text, "", problems)
    if problems:
        raise click.BadParameter(told(problems[0].said))
    return int(seconds)


@alerts.command("remove")
@click.argument("rule_id")
@json_option
def remove(rule_id: str, as_json: bool) -> None:
    """Delete a rule."""
    connect().delete_alert_rule(rule_id)
    tell({"id": rule_id, "is_deleted": True}, phrase("Deleted rule {rule}.", rule=rule_id), as_json)


@alerts.command("retry")
@click.argument("delivery_id")
@json_option
def retry(delivery_id: str, as_json: bool) -> None:
    """Send something once more that was not taken."""
    again = connect().send_alert_again(delivery_id)
    tell(again, phrase("Sending {notice} again.", notice=delivery_id), as_json)


@alerts.command("settings")
@click.option("--smtp", metavar="HOST[:PORT]", help="Mail server; empty for none.")
@click.option("--security", type=click.Choice(("none", "starttls", "tls")), help="How to speak with it.")
@click.option("--sender", metavar="ADDRESS", help="Address that mail comes from.")
@click.option("--username", help="Login at the mail server; its password is asked for.")
@click.option("--allow", "allowed", multiple=True, metavar="NETWORK", help="Let webhooks lead to it.")
@click.option("--forbid", multiple=True, metavar="NETWORK", help="No longer let webhooks lead to it.")
@json_option
def settings(
    smtp: str | None, allowed: tuple[str, ...], forbid: tuple[str, ...], as_json: bool, **given: str | None
) -> None:
    """Show or set the mail server, and private networks to which webhooks may lead (admin)."""
    client = connect()
    now = client.alert_settings()
    changes = {name: value for name, value in given.items() if value is not None}
    if smtp is not None or changes or allowed or forbid:
        networks = [one for one in dict.fromkeys((*now["private_networks"], *allowed)) if one not in forbid]
        now = client.set_alert_settings(_mail(now["mail"], smtp, changes), networks)
    mail = now["mail"]
    shown = phrase("none") if mail is None else f"{mail['host']}:{mail['port']} ({mail['security']})"
    open_to = ", ".join(now["private_networks"]) or phrase("none")
    said = phrase("Mail server: {mail}; private networks: {networks}", mail=shown, networks=open_to)
    tell(now, said, as_json)


def _mail(
    before: Mapping[str, Any] | None, smtp: str | None, changes: Mapping[str, str]
) -> dict[str, Any] | None:
    if smtp == "" or (before is None and smtp is None):
        return None
    mail = {name: value for name, value in (before or {}).items() if name != "has_password"}
    if smtp:
        host, _, port = smtp.partition(":")
        mail |= {"host": host, **({"port": int(port)} if port.isdigit() else {})}
    mail |= changes
    if "username" in changes:
        mail["password"] = _password()
    return mail


def _password() -> str:
    if sys.stdin.isatty():
        return str(click.prompt(phrase("Password"), hide_input=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")
