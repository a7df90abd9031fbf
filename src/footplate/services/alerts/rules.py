"""What a caller may do with rules of alerts, and with the list of what was told."""

from __future__ import annotations

import secrets
from dataclasses import replace

import sqlalchemy as sa

from footplate.domain.alerts import OF_PLATFORM, Delivery, DeliveryState, Rule
from footplate.domain.errors import Conflict, Denied, InvalidInput, NotFound, Problem, problem
from footplate.domain.ids import job_id as time_sorted_id
from footplate.services import audit
from footplate.services.access import Caller, require_person
from footplate.services.alerts.channels import reload, require_scope, scopes_of
from footplate.services.platform import Platform
from footplate.store import alert_queries, delivery_queries

MOST_OF_A_SCOPE = 100
_NEEDS = (("overtime", "after_s"), ("no_progress", "after_s"), ("metric", "metric"))


def all_kept(platform: Platform, caller: Caller) -> list[Rule]:
    """The caller's own rules, and those of queues that they administer."""
    require_person(caller, "keep_alert_rules")
    scopes = scopes_of(platform, caller)
    return [rule for rule in platform.alerts.rules.values() if rule.scope in scopes]


def one_kept(platform: Platform, caller: Caller, rule_id: str) -> Rule:
    rule = next((one for one in all_kept(platform, caller) if one.id == rule_id), None)
    if rule is None:
        raise NotFound("alert_rule_unknown", rule=rule_id[:64])
    return rule


async def add(platform: Platform, caller: Caller, new: Rule) -> Rule:
    """Add a rule for all jobs of the caller, or of a queue, or for the platform."""
    require_person(caller, "keep_alert_rules")
    require_scope(platform, caller, new.queue)
    now = platform.clock.now()
    made = replace(new, id=time_sorted_id(now, secrets.randbits(20)), owner=caller.name, created_at=now)
    _check(platform, caller, made)

    def unit(connection: sa.Connection) -> Rule:
        require_scope(platform, caller, made.queue)
        n_before = sum(one.scope == made.scope for one in alert_queries.all_rules(connection))
        if n_before >= MOST_OF_A_SCOPE:
            raise Conflict("too_many_alert_rules", most=MOST_OF_A_SCOPE)
        alert_queries.put_rule(connection, made)
        return made

    detail = {"queue": made.queue, "on": list(made.on), "level": made.level}
    kept = await audit.change(platform, caller, "alert_rule.added", made.id, unit, **detail)
    await reload(platform)
    return kept


async def replace_rule(platform: Platform, caller: Caller, rule_id: str, new: Rule) -> Rule:
    """Say anew what a rule tells; it stays of whom it was."""
    before = one_kept(platform, caller, rule_id)
    # What happened before this is not told by it.
    made = replace(new, id=before.id, owner=before.owner, queue=before.queue, created_at=platform.clock.now())
    _check(platform, caller, made)

    def unit(connection: sa.Connection) -> Rule:
        if not alert_queries.remove_rule(connection, rule_id):
            raise NotFound("alert_rule_unknown", rule=rule_id[:64])
        alert_queries.put_rule(connection, made)
        return made

    detail = {"queue": made.queue, "on": list(made.on), "level": made.level}
    kept = await audit.change(platform, caller, "alert_rule.changed", made.id, unit, **detail)
    await reload(platform)
    return kept


async def remove(platform: Platform, caller: Caller, rule_id: str) -> None:
    rule = one_kept(platform, caller, rule_id)
    await audit.change(
        platform,
        caller,
        "alert_rule.removed",
        rule_id,
        lambda connection: alert_queries.remove_rule(connection, rule_id),
        queue=rule.queue,
    )
    await reload(platform)


def _check(platform: Platform, caller: Caller, rule: Rule) -> None:
    if set(OF_PLATFORM).intersection(rule.on) and (rule.queue or not caller.is_admin):
        raise Denied("platform_alerts_for_admins")
    problems: list[Problem] = []
    for word, field in _NEEDS:
        if word in rule.on and getattr(rule, field) in (None, ""):
            problems.append(problem(field, "required_for_alert", event=word))
    if "metric" in rule.on and rule.above is None and rule.below is None:
        problems.append(problem("above", "bound_for_metric"))
    for number, channel_id in enumerate(rule.channels):
        channel = platform.alerts.channels.get(channel_id)
        if channel is None or channel.scope != rule.scope:
            problems.append(problem(f"channels[{number}]", "channel_unknown", channel=channel_id[:64]))
    if problems:
        raise InvalidInput(problems)


async def told(
    platform: Platform, caller: Caller, before: str, limit: int, job_id: str = "", channel_id: str = ""
) -> list[Delivery]:
    """What was told to the caller and to queues that they administer, and what became of it."""
    require_person(caller, "keep_alert_rules")
    scopes = scopes_of(platform, caller)
    return await platform.store.read(
        lambda connection: delivery_queries.page(connection, scopes, before, limit, job_id, channel_id)
    )


async def send_again(platform: Platform, caller: Caller, delivery_id: str) -> Delivery:
    """Put something on its way once more that was not taken."""
    require_person(caller, "keep_alert_rules")
    found = await platform.store.read(lambda connection: delivery_queries.find(connection, delivery_id))
    if found is None or found.scope not in scopes_of(platform, caller):
        raise NotFound("delivery_unknown", delivery=delivery_id[:64])
    if found.state is not DeliveryState.FAILED:
        raise Conflict("delivery_not_failed", delivery=found.id)
    now = platform.clock.now()
    await platform.store.write(lambda tx: delivery_queries.again(tx.connection, delivery_id, now))
    return replace(found, state=DeliveryState.WAITING, next_at=now, done_at=None, n_attempts=0)
