"""Which sender serves which kind of channel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from footplate.domain.alerts import ChannelKind
from footplate.notify import chat, mail, webhook
from footplate.notify.base import Letter, Surroundings, Target

Sender = Callable[[Letter, Target, Surroundings, float], Awaitable[None]]

SENDERS: Mapping[ChannelKind, Sender] = {
    ChannelKind.MAIL: mail.send,
    ChannelKind.WEBHOOK: webhook.send,
    ChannelKind.DINGTALK: chat.send_dingtalk,
    ChannelKind.WECOM: chat.send_wecom,
    ChannelKind.FEISHU: chat.send_feishu,
    ChannelKind.SLACK: chat.send_slack,
}
