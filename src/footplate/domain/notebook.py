"""A notebook as a job: JupyterLab in a task that waits until nobody uses it any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

TAG = "notebook"
IDLE_LIMIT = "2h"
# Relative to where the task begins; leads to where notebooks are kept.
FOLDER = "notebooks"
# Where tasks in an image see their owner's part of the storage `home`.
STORED = "/mnt/home"
# What somebody has on the machine, whatever job they run.
_AT_HOME = "FOLDER=$HOME/notebooks"
# Whoever an image runs as may have no right to write there.
_STORED = f"""\
FOLDER={STORED}/notebooks
mkdir -p "$FOLDER" && [ -w "$FOLDER" ] || FOLDER=$FOOTPLATE_OUTPUT_DIR"""
_IN_OUTPUT = "FOLDER=$FOOTPLATE_OUTPUT_DIR"
_START = """\
{kept}
mkdir -p "$FOLDER"
[ -e {folder} ] || ln -s "$FOLDER" {folder}
{copy}echo "notebooks are in $FOLDER"
exec sleep infinity
"""
# A notebook without its samples is better than none.
_COPY = """\
python3 - "$FOLDER/samples" {names} <<'END' || echo "the samples could not be copied"
import os, pathlib, sys, urllib.request
folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
for name in sys.argv[2:]:
    address = os.environ["FOOTPLATE_URL"] + "/api/v1/notebooks/samples/" + name
    asked = urllib.request.Request(address)
    asked.add_header("Authorization", "Bearer " + os.environ["FOOTPLATE_TOKEN"])
    if not (folder / name).exists():
        (folder / name).write_bytes(urllib.request.urlopen(asked, timeout=60).read())
END
"""


def notebook_job(
    wish: Mapping[str, Any], samples: Sequence[str], now: float, storage: str = ""
) -> dict[str, Any]:
    """Write the document of a job whose one task is a notebook; `wish` has fields of a job file.

    What is made in an image is kept on the storage that is named, else with the job.
    """
    fields = {name: value for name, value in wish.items() if value not in (None, "", [])}
    copy = _COPY.format(names=" ".join(samples)) if samples else ""
    kept = _AT_HOME
    if fields.get("image"):
        kept = _STORED if storage else _IN_OUTPUT
        if storage:
            home = {"storage": storage, "path": STORED, "read_only": False}
            fields["data"] = [*fields.get("data", ()), home]
    at = datetime.fromtimestamp(now, UTC)
    return {
        "name": f"notebook-{at:%m%d-%H%M%S}",
        "idle_limit": IDLE_LIMIT,
        **fields,
        "tags": [TAG],
        "command": _START.format(kept=kept, folder=FOLDER, copy=copy),
        "services": [{"kind": "jupyter", "path": FOLDER}],
    }
