"""Alerts over REST."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from footplate.domain.alerts import OF_JOBS, OF_PLATFORM, Channel, Delivery
from footplate.domain.errors import InvalidInput, problem
from footplate.notify.base import MailServer, Target
from footplate.server.auth import Signed, Wired
from footplate.services.alerts import channels, rules, setting
from footplate.services.alerts.setting import AlertSettings
from footplate.services.alerts.telling import title_of
from footplate.wire import alerts as w
from footplate.wire.body import Text

router = APIRouter(prefix="/alerts", tags=["alerts"])

_WORDS = (*OF_JOBS, *OF_PLATFORM)


@router.get("/channels", response_model=w.Channels)
async def listed(parts: Wired, caller: Signed) -> dict[str, Any]:
    """The caller's channels, and those of queues that the caller administers."""
    return {"items": [w.channel_view(one) for one in channels.all_kept(parts.platform, caller)]}


@router.post("/channels", response_model=w.ChannelBody, status_code=201)
async def add_channel(parts: Wired, caller: Signed, body: w.NewChannel) -> dict[str, Any]:
    """Add a channel: mail, webhook, dingtalk, wecom, feishu or slack."""
    new = Channel("", owner="", kind=body.kind, queue=body.queue or "", **w.channel_changes(body))
    target = Target(body.address, body.secret or "")
    return w.channel_view(await channels.add(parts.platform, caller, new, target))


@router.patch("/channels/{channel_id}", response_model=w.ChannelBody)
async def edit_channel(
    parts: Wired, caller: Signed, channel_id: Text, body: w.ChannelFields
) -> dict[str, Any]:
    """Change a channel."""
    changes = w.channel_changes(body)
    changed = await channels.edit(parts.platform, caller, channel_id, changes, body.address, body.secret)
    return w.channel_view(changed)


@router.delete("/channels/{channel_id}", status_code=204)
async def remove_channel(parts: Wired, caller: Signed, channel_id: Text) -> Response:
    """Delete a channel; what still waits for it is not sent."""
    await channels.remove(parts.platform, caller, channel_id)
    return Response(status_code=204)


@router.post("/channels/{channel_id}/test", status_code=204)
async def test_channel(parts: Wired, caller: Signed, channel_id: Text) -> Response:
    """Send a notice through a channel now; refused with 409 and what the receiver answered."""
    await channels.test(parts.platform, caller, channel_id, parts.settings.url)
    return Response(status_code=204)


@router.get("/rules", response_model=w.Rules)
async def listed_rules(parts: Wired, caller: Signed) -> dict[str, Any]:
    """The caller's rules, and those of queues that the caller administers."""
    return {"items": [w.rule_view(one) for one in rules.all_kept(parts.platform, caller)]}


@router.post("/rules", response_model=w.RuleBody, status_code=201)
async def add_rule(parts: Wired, caller: Signed, body: w.NewRule) -> dict[str, Any]:
    """Have something told of one's own jobs, of a queue's (its admins), or of the platform (admin)."""
    _check_words(body)
    return w.rule_view(await rules.add(parts.platform, caller, w.rule_of(body, body.queue or "")))


@router.put("/rules/{rule_id}", response_model=w.RuleBody)
async def put_rule(parts: Wired, caller: Signed, rule_id: Text, body: w.RuleChange) -> dict[str, Any]:
    """Say anew what a rule tells."""
    _check_words(body)
    return w.rule_view(await rules.replace_rule(parts.platform, caller, rule_id, w.rule_of(body)))


@router.delete("/rules/{rule_id}", status_code=204)
async def remove_rule(parts: Wired, caller: Signed, rule_id: Text) -> Response:
    """Delete a rule."""
    await rules.remove(parts.platform, caller, rule_id)
    return Response(status_code=204)


@router.get("/deliveries", response_model=w.Deliveries)
async def deliveries(
    parts: Wired,
    caller: Signed,
    before: Annotated[Text, Query(max_length=32, description="Only those before this one.")] = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    job: Annotated[Text, Query(max_length=12, description="Only those about this job, by id.")] = "",
    channel: Annotated[Text, Query(max_length=12, description="Only those of this channel, by id.")] = "",
) -> dict[str, Any]:
    """What was told to the caller and to the caller's queues, newest first, and what became of it."""
    found = await rules.told(parts.platform, caller, before, limit, job, channel)
    return {"items": [_delivery(one) for one in found]}


@router.post("/deliveries/{delivery_id}/retry", response_model=w.DeliveryBody)
async def retry(parts: Wired, caller: Signed, delivery_id: Text) -> dict[str, Any]:
    """Send something once more that was not taken."""
    again = await rules.send_again(parts.platform, caller, delivery_id)
    parts.alerts.sending.wake()
    return _delivery(again)


@router.get("/settings", response_model=w.AlertSettingsBody)
async def settings(parts: Wired, caller: Signed) -> dict[str, Any]:
    """The mail server, and the networks to which webhooks may lead (admin)."""
    return _settings(await setting.shown(parts.platform, caller))


@router.put("/settings", response_model=w.AlertSettingsBody)
async def put_settings(parts: Wired, caller: Signed, body: w.AlertSettingsChange) -> dict[str, Any]:
    """Set the mail server, and the networks to which webhooks may lead (admin)."""
    mail, keeps = None, False
    if body.mail is not None:
        given = body.mail.model_dump(exclude={"password"})
        mail, keeps = MailServer(**given, password=body.mail.password or ""), body.mail.password is None
    kept = await setting.put(parts.platform, caller, mail, body.private_networks, keeps)
    return _settings(kept)


def _delivery(delivery: Delivery) -> dict[str, Any]:
    return w.delivery_view(delivery, title_of(delivery.notice))


def _settings(kept: AlertSettings) -> dict[str, Any]:
    mail = None
    if kept.mail is not None:
        names = ("host", "port", "security", "sender", "username")
        mail = {name: getattr(kept.mail, name) for name in names}
        mail["has_password"] = kept.has_password
    return {"mail": mail, "private_networks": list(kept.networks)}


def _check_words(body: w.RuleChange) -> None:
    """Refuse words that mean nothing, with the ones there are."""
    problems = [
        problem(f"on[{number}]", "not_a_choice", options=list(_WORDS), given=word[:64])
        for number, word in enumerate(body.on)
        if word not in _WORDS
    ]
    if problems:
        raise InvalidInput(problems)
