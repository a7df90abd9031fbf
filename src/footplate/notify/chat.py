"""The robots of DingTalk, WeCom, Feishu and Slack: what each takes, signs and answers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from footplate.domain.messages import say
from footplate.notify.base import Letter, SendFailed, Surroundings, Target, refused
from footplate.notify.posting import post

JSON = {"Content-Type": "application/json; charset=utf-8"}
# Answers that ask to come again: too many messages, or a busy server.
DINGTALK_BUSY = frozenset({-1, 130101})
WECOM_BUSY = frozenset({-1, 45009})
FEISHU_BUSY = frozenset({11232, 9499})
# What each takes at most; WeCom counts bytes.
MOST_DINGTALK = 5000
MOST_WECOM_BYTES = 4096
MOST_SLACK = 2900


async def send_dingtalk(letter: Letter, target: Target, around: Surroundings, at: float) -> None:
    """Send a message in Markdown; the signature goes into the address."""
    url = target.address
    if target.secret:
        moment = str(round(at * 1000))
        sign = _signed(target.secret.encode(), f"{moment}\n{target.secret}".encode())
        url = _with_query(url, timestamp=moment, sign=sign)
    text = _cut(_markdown(letter), MOST_DINGTALK)
    body = {"msgtype": "markdown", "markdown": {"title": letter.title, "text": text}}
    answer = await _post_json(url, body, around)
    _check(answer, "errcode", "errmsg", DINGTALK_BUSY)


async def send_wecom(letter: Letter, target: Target, around: Surroundings, _at: float) -> None:
    """Send a message in Markdown; the key in the address is all that WeCom asks for."""
    content = _markdown(letter).encode()[:MOST_WECOM_BYTES].decode(errors="ignore")
    answer = await _post_json(
        target.address, {"msgtype": "markdown", "markdown": {"content": content}}, around
    )
    _check(answer, "errcode", "errmsg", WECOM_BUSY)


async def send_feishu(letter: Letter, target: Target, around: Surroundings, at: float) -> None:
    """Send a post; the signature goes into the body, and the text that is signed is the key."""
    lines: list[list[dict[str, str]]] = [[{"tag": "text", "text": line}] for line in _plain(letter)]
    if letter.link:
        lines.append([{"tag": "a", "text": letter.link_text, "href": letter.link}])
    body: dict[str, Any] = {
        "msg_type": "post",
        "content": {"post": {"zh_cn": {"title": letter.title, "content": lines}}},
    }
    if target.secret:
        moment = str(int(at))
        sign = _signed(f"{moment}\n{target.secret}".encode(), b"")
        body = {"timestamp": moment, "sign": sign, **body}
    _check(await _post_json(target.address, body, around), "code", "msg", FEISHU_BUSY)


async def send_slack(letter: Letter, target: Target, around: Surroundings, _at: float) -> None:
    """Send blocks, and their gist as the text of the notification."""
    told = "\n".join(map(_escaped, letter.lines))
    if letter.log_lines:
        log = _cut("\n".join(letter.log_lines), MOST_SLACK - 200)
        told += f"\n{_escaped(letter.log_head)}\n```{_escaped(log)}```"
    if letter.link:
        told += f"\n<{letter.link}|{_escaped(letter.link_text)}>"
    title = {"type": "section", "text": {"type": "mrkdwn", "text": f"*{_escaped(letter.title)}*"}}
    blocks = [title, {"type": "section", "text": {"type": "mrkdwn", "text": told or "-"}}]
    await _post_json(target.address, {"text": _escaped(letter.title), "blocks": blocks}, around)


def _markdown(letter: Letter) -> str:
    log = ""
    if letter.log_lines:
        quoted = "\n".join(f"> {line}" for line in letter.log_lines)
        log = f"\n\n{letter.log_head}\n{quoted}"
    link = f"\n\n[{letter.link_text}]({letter.link})" if letter.link else ""
    lines = "\n\n".join(letter.lines)
    return f"### {letter.title}\n\n{lines}{log}{link}"


def _plain(letter: Letter) -> list[str]:
    log = [letter.log_head, *letter.log_lines] if letter.log_lines else []
    return [*letter.lines, *log]


def _escaped(text: str) -> str:
    """What Slack would take for its own signs, as plain text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _signed(key: bytes, message: bytes) -> str:
    return base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode()


def _with_query(url: str, **more: str) -> str:
    parts = urlsplit(url)
    query = [(name, value) for name, value in parse_qsl(parts.query) if name not in more]
    return parts._replace(query=urlencode([*query, *more.items()])).geturl()


async def _post_json(url: str, body: Any, around: Surroundings) -> bytes:
    return await post(url, json.dumps(body, ensure_ascii=False).encode(), JSON, around)


def _check(answer: bytes, code_name: str, text_name: str, busy: frozenset[int]) -> None:
    """Refuse an answer of success that says in its body that it is none."""
    try:
        told = json.loads(answer)
        code = told[code_name]
    except (ValueError, KeyError, TypeError):
        raise SendFailed(
            say("channel_answer_strange", answer=answer.decode(errors="replace")[:200])
        ) from None
    if code in busy:
        raise SendFailed(say("channel_busy", answer=str(told.get(text_name))[:200]), retry_after_s=60.0)
    if code != 0:
        raise refused(f"{code} {told.get(text_name)}")
