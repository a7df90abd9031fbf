"""A build as a process: confined like a task of its owner, with the Python of this machine."""

from __future__ import annotations

from collections.abc import Mapping

from footplate.engines.local.environments.indexes import NO_INDEX
from footplate.engines.local.environments.order import Order
from footplate.engines.local.environments.recipe import commands
from footplate.engines.local.exchange import ProcessRequest, ProcessTask

INHERITED = ("HOME", "LOGNAME", "USER", "SHELL", "PATH", "LANG", "TZ", "SSL_CERT_DIR", "SSL_CERT_FILE")


def process_of(order: Order, variables: Mapping[str, str]) -> tuple[ProcessRequest, ProcessTask]:
    """Write the build as a request of one task, which may write to the person's environments only."""
    place, asked = order.place, order.request
    request: ProcessRequest = {
        "home_id": asked["home_id"],
        "owner": asked["owner"],
        "owner_number": asked["owner_number"],
        "person_folder": asked["person_folder"],
        "attempt_id": order.build_id,
        "folder": str(place.records),
        "folders": [str(place.files)],
        "writable": [str(place.files)],
        "code_is_read_only": False,
        "mounts": [],
        # Who it is for and where packages come from, nothing of the job's secrets.
        "env": {
            **{name: asked["env"][name] for name in INHERITED if name in asked["env"]},
            **variables,
            **order.variables(),
        },
    }
    command = commands(order.inputs, place.source, place.target, NO_INDEX not in variables)
    return request, order.task(command, str(place.files))
