"""Every environment variable that a task receives: the platform's own, the frameworks', the dialects'."""

from footplate.engines.taskenv.environment import (
    gang_environment,
    own_environment,
    task_command,
    task_environment,
)
from footplate.engines.taskenv.gang import ranked_tasks

__all__ = [
    "gang_environment",
    "own_environment",
    "ranked_tasks",
    "task_command",
    "task_environment",
]
