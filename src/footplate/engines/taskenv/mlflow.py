"""The variable by which MLflow's client finds this server, with the task's own credentials in the address.

They go to no other server that way, whichever a training may choose for itself.
"""

from __future__ import annotations

from urllib.parse import quote

from footplate.domain.cluster import TaskPlacement
from footplate.engines.taskenv.gang import Environment, Gang


def task(gang: Gang, task: TaskPlacement, _rank: int) -> Environment:
    scheme, _, rest = gang.plan.url.partition("://")
    if not rest or not gang.plan.token:
        return {}
    name = quote(f"{task.role}-{task.index}", safe="")
    return {"MLFLOW_TRACKING_URI": f"{scheme}://{name}:{quote(gang.plan.token, safe='')}@{rest}"}
