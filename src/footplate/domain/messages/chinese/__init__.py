"""The Chinese sentences, by code."""

from footplate.domain.messages.chinese import (
    accounts,
    backups,
    client,
    doctor,
    documents,
    engines,
    environments,
    events,
    fields,
    jobs,
    nodes,
    queues,
    running,
    secrets,
    server,
    settings,
    storages,
    strategies,
    tasks,
    waiting,
)
from footplate.domain.messages.chinese.words import WORDS

__all__ = ["SENTENCES", "WORDS"]

SENTENCES: dict[str, str] = {
    **accounts.TABLE,
    **backups.TABLE,
    **client.TABLE,
    **doctor.TABLE,
    **documents.TABLE,
    **engines.TABLE,
    **environments.TABLE,
    **events.TABLE,
    **fields.TABLE,
    **jobs.TABLE,
    **nodes.TABLE,
    **queues.TABLE,
    **running.TABLE,
    **secrets.TABLE,
    **server.TABLE,
    **settings.TABLE,
    **storages.TABLE,
    **strategies.TABLE,
    **tasks.TABLE,
    **waiting.TABLE,
}
