"""The table of verbs: where each lives, what it does, and one example.

It is all that `footplate help` and an unknown verb need, so no command module is loaded for them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    name: str
    home: str
    summary: str
    example: str
    aliases: tuple[str, ...] = ()


VERBS = (
    Verb("up", "footplate.cli.up:up", "Start the platform on this machine.", "footplate up"),
    Verb(
        "doctor",
        "footplate.cli.doctor:doctor",
        "Check this machine and suggest fixes.",
        "footplate doctor",
    ),
    Verb(
        "install-service",
        "footplate.cli.service:install_service",
        "Run the server under systemd.",
        "footplate install-service --dry-run",
    ),
    Verb("init", "footplate.cli.initialize:init", "Write a commented job file.", "footplate init"),
    Verb(
        "submit",
        "footplate.cli.submit:submit",
        "Submit a job file, or a command.",
        "footplate submit job.yaml . --follow",
        ("train",),
    ),
    Verb(
        "run",
        "footplate.cli.run:run",
        "Run a command with this folder, and follow it.",
        "footplate run python train.py",
    ),
    Verb("list", "footplate.cli.listing:list_jobs", "List jobs.", "footplate list --state running", ("ps",)),
    Verb(
        "show",
        "footplate.cli.show:show",
        "Show one job and its tasks.",
        "footplate show digits",
        ("describe", "status"),
    ),
    Verb(
        "logs",
        "footplate.cli.logs:logs",
        "Print a job's logs.",
        "footplate logs -f digits",
        ("loglines",),
    ),
    Verb(
        "usage",
        "footplate.cli.usage:usage",
        "Show the resource usage of a job's tasks.",
        "footplate usage digits",
    ),
    Verb("events", "footplate.cli.events:events", "Print the events of a job.", "footplate events digits"),
    Verb("wait", "footplate.cli.jobs:wait", "Wait until a job ends.", "footplate wait digits --timeout 10m"),
    Verb("stop", "footplate.cli.jobs:stop", "Stop jobs.", "footplate stop digits", ("cancel",)),
    Verb(
        "clone",
        "footplate.cli.jobs:clone",
        "Submit a job again.",
        "footplate clone digits -n digits-2",
        ("rerun",),
    ),
    Verb(
        "edit",
        "footplate.cli.jobs:edit",
        "Change name, description or priority.",
        "footplate edit digits --priority 5",
    ),
    Verb(
        "halt",
        "footplate.cli.endings:halt",
        "Stop a job and keep its results.",
        "footplate halt digits --wait",
    ),
    Verb(
        "download",
        "footplate.cli.download:download",
        "Download the results of a job.",
        "footplate download digits",
    ),
    Verb(
        "exec",
        "footplate.cli.exec:exec_",
        "Run a command inside a task.",
        "footplate exec digits -- ls -l",
    ),
    Verb(
        "release",
        "footplate.cli.endings:release",
        "Release a kept environment.",
        "footplate release digits",
    ),
    Verb(
        "preempt",
        "footplate.cli.endings:preempt",
        "Preempt a job: stop and requeue it.",
        "footplate preempt digits",
    ),
    Verb(
        "delete",
        "footplate.cli.endings:delete",
        "Move jobs to the trash, or delete them permanently.",
        "footplate delete digits",
        ("rm",),
    ),
    Verb(
        "restore",
        "footplate.cli.endings:restore",
        "Restore a job from the trash, or a server from a backup.",
        "footplate restore 0w3kq7m2x9ab",
    ),
    Verb(
        "backup",
        "footplate.cli.backup:backup",
        "Back up a server while it runs.",
        "footplate backup /srv/backup/monday",
    ),
    Verb("summary", "footplate.cli.cluster:summary", "Count jobs and resources.", "footplate summary"),
    Verb("queues", "footplate.cli.queues:queues", "List and manage queues.", "footplate queues"),
    Verb("nodes", "footplate.cli.cluster:nodes", "List and manage machines.", "footplate nodes"),
    Verb(
        "images",
        "footplate.cli.images:images",
        "List and manage images.",
        "footplate images",
    ),
    Verb(
        "environments",
        "footplate.cli.environments:environments",
        "List and remove Python environments of jobs.",
        "footplate environments",
    ),
    Verb("storages", "footplate.cli.storages:storages", "List storages with data.", "footplate storages"),
    Verb(
        "strategies",
        "footplate.cli.strategies:strategies",
        "List strategies for distributed training.",
        "footplate strategies",
    ),
    Verb(
        "secrets",
        "footplate.cli.secrets:secrets",
        "List and manage my secrets.",
        "footplate secrets set wandb",
    ),
    Verb("login", "footplate.cli.account:login", "Log in to a server.", "footplate login http://host:8750"),
    Verb("logout", "footplate.cli.account:logout", "Log out.", "footplate logout"),
    Verb("whoami", "footplate.cli.account:whoami", "Show who is logged in.", "footplate whoami"),
    Verb("password", "footplate.cli.account:password", "Change my password.", "footplate password"),
    Verb("tokens", "footplate.cli.tokens:tokens", "List and manage my tokens.", "footplate tokens create ci"),
    Verb("users", "footplate.cli.users:users", "List and manage users (admin).", "footplate users add ada"),
    Verb(
        "invite",
        "footplate.cli.invite:invite",
        "Print a line that sets up a colleague's laptop (admin).",
        "footplate invite ada",
    ),
    Verb(
        "join",
        "footplate.cli.invite:join",
        "Accept an invitation.",
        "footplate join 'https://host/join#fpi_…'",
    ),
    Verb("version", "footplate.cli.about:version", "Print the version.", "footplate version"),
    Verb("help", "footplate.cli.about:help_", "Explain a command, or list all.", "footplate help submit"),
    Verb(
        "completion",
        "footplate.cli.about:completion",
        "Print a shell's completion script.",
        'eval "$(footplate completion bash)"',
    ),
)

BY_NAME = {name: verb for verb in VERBS for name in (verb.name, *verb.aliases)}
