"""The order in which `footplate help` lists the verbs: by what somebody wants to do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    title: str
    verbs: tuple[str, ...]


TOPICS = (
    Topic("Submit jobs", ("init", "submit", "run", "run-local", "notebook", "clone")),
    Topic(
        "Watch jobs",
        ("list", "show", "logs", "events", "metrics", "usage", "wait", "loglines", "summary", "open"),
    ),
    Topic("Change jobs", ("stop", "halt", "preempt", "release", "edit", "delete", "restore")),
    Topic("Enter tasks", ("shell", "exec", "ssh", "ssh-config")),
    Topic(
        "Files and models",
        ("files", "download", "ls", "cp", "mv", "rm", "mkdir", "cat", "du", "storages", "models"),
    ),
    Topic(
        "What jobs can use",
        ("queues", "nodes", "types", "frameworks", "images", "environments", "strategies", "secrets"),
    ),
    Topic("Alerts and costs", ("alerts", "channels", "accounting", "sizes")),
    Topic("Other systems", ("convert", "import-slurm", "redirect")),
    Topic("Account", ("login", "logout", "whoami", "password", "tokens", "keys", "ssh-keys", "join")),
    Topic("Server", ("up", "doctor", "install-service", "backup", "settings", "sweep", "users", "invite")),
    Topic("This command", ("help", "version", "completion")),
)
