"""What to type after a refusal: messages are for every client, these words for the command."""

from __future__ import annotations

from footplate.cli.language import phrase
from footplate.domain.messages import Message


def hint_for(said: Message) -> str:
    """Say which option or command helps; nothing where none does."""
    params = said.params
    match said.code:
        case "job_name_taken":
            return phrase("--again takes the next free name, such as {name}-2", name=params["name"])
        case "job_not_named":
            return phrase("`footplate list` shows IDs, `footplate list --trash` those in the trash")
        case "job_private":
            return phrase("its owner types: footplate edit {job} --shared", job=params["job"])
        case "environment_file_without_code":
            return phrase("--code . sends this folder")
        case "no_such_file":
            return phrase("`footplate files {job}` lists what there is", job=params["job"])
    return ""
