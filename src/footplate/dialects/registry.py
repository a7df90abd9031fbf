"""The dialects of job files: which one a text is written in, and how it becomes a document of ours.

To add one: a module with `translate` and, where our jobs can be written in it, `write`; a line in
`DIALECTS`; its name among the words `foreign` of the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from footplate.dialects import ffdl, slurm
from footplate.dialects.ffdl import write as ffdl_write
from footplate.dialects.pai import v1, v2
from footplate.dialects.pai import write as pai_write
from footplate.dialects.slurm import write as slurm_write
from footplate.dialects.translation import Translation, Written
from footplate.domain.errors import InvalidInput
from footplate.domain.foreign import format_of, is_batch_script
from footplate.domain.spec import JobSpec
from footplate.wire.documents import decode, load_plain

OURS = "footplate"


@dataclass(frozen=True, slots=True)
class Dialect:
    """A way to write job files: `translate` reads a text of it, `write` makes one where that is possible.

    `suffix` is how its files are called.
    """

    name: str
    translate: Callable[[str], Translation]
    write: Callable[[JobSpec], Written] | None = None
    suffix: str = ".yaml"


DIALECTS: Mapping[str, Dialect] = {
    one.name: one
    for one in (
        Dialect(v1.NAME, v1.translate, pai_write.write_v1, ".json"),
        Dialect(v2.NAME, v2.translate, pai_write.write_v2),
        Dialect(ffdl.FFDL, ffdl.translate_ffdl, ffdl_write.write_ffdl),
        Dialect(ffdl.PROPHECIS, ffdl.translate_prophecis, ffdl_write.write_prophecis),
        Dialect(slurm.NAME, slurm.translate_text, slurm_write.write, ".sbatch"),
    )
}


def recognise(text: str, document: Any = None) -> str | None:
    """Name the dialect of a text; None for what may be ours, and for what is no document at all.

    `document` is what was read from the text, where somebody has read it already.
    """
    if is_batch_script(text):
        return slurm.NAME
    if document is None:
        try:
            document = load_plain(text, "job file")
        except InvalidInput:
            return None
    return format_of(document)


def translate(text: str | bytes, dialect: str | None = None) -> Translation:
    """Translate a foreign text; raise `InvalidInput` for what is refused, or cannot be translated."""
    decoded = decode(text, "job file")
    found = dialect or recognise(decoded)
    if found is None:
        raise InvalidInput("job_file_not_foreign", "")
    if found not in DIALECTS:
        raise InvalidInput("job_file_foreign", "", format=found)
    return DIALECTS[found].translate(decoded)
