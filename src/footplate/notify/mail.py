"""Mail over SMTP, in a thread: each letter is one message with an id of its own."""

from __future__ import annotations

import asyncio
import contextlib
import smtplib
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, formataddr, parseaddr

from footplate.domain.messages import say
from footplate.notify.base import Letter, MailServer, SendFailed, Surroundings, Target

FROM_NAME = "Footplate"


async def send(letter: Letter, target: Target, around: Surroundings, at: float) -> None:
    """Hand a letter to the mail server."""
    if around.mail is None:
        raise SendFailed(say("mail_not_set_up"), is_final=True)
    message = written(letter, target.address, around.mail, at)
    await asyncio.to_thread(_hand_over, message, around.mail, around.timeout_s)


def written(letter: Letter, to: str, server: MailServer, at: float) -> EmailMessage:
    """Write the message of a letter; its id is that of the letter, so that doubles are known."""
    sender = server.sender or f"footplate@{server.host}"
    message = EmailMessage()
    message["From"] = formataddr((FROM_NAME, parseaddr(sender)[1]))
    message["To"] = to
    message["Subject"] = f"[{letter.level}] {_one_line(letter.title)}"
    message["Date"] = format_datetime(datetime.fromtimestamp(at, UTC))
    message["Message-ID"] = f"<{letter.id}@{sender.rpartition('@')[2].rstrip('>')}>"
    message["Auto-Submitted"] = "auto-generated"
    message["X-Footplate-Event"] = letter.on
    message["X-Footplate-Delivery"] = letter.id
    message["X-Footplate-Attempt"] = str(letter.attempt)
    message.set_content(letter.text)
    return message


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


def _hand_over(message: EmailMessage, server: MailServer, timeout_s: float) -> None:
    try:
        with _connected(server, timeout_s) as smtp:
            if server.username:
                smtp.login(server.username, server.password)
            smtp.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        code, text = next(iter(error.recipients.values()), (550, b""))
        raise _failure(code, text) from None
    except smtplib.SMTPResponseException as error:
        raise _failure(error.smtp_code, error.smtp_error) from None
    except (smtplib.SMTPException, OSError) as error:
        raise SendFailed(say("channel_unreachable", host=server.host, error=str(error))) from None


def _failure(code: int, text: bytes | str) -> SendFailed:
    told = text.decode(errors="replace") if isinstance(text, bytes) else text
    # 5xx is for good; a wrong password can be set right, and what waits goes out then.
    is_final = 550 <= code < 560
    return SendFailed(say("channel_answered", status=code, answer=told[:200]), is_final)


@contextlib.contextmanager
def _connected(server: MailServer, timeout_s: float) -> Iterator[smtplib.SMTP]:
    context = ssl.create_default_context()
    if server.security == "tls":
        smtp: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=timeout_s, context=context)
    else:
        smtp = smtplib.SMTP(server.host, server.port, timeout=timeout_s)
    with smtp:
        if server.security == "starttls":
            smtp.starttls(context=context)
        yield smtp
