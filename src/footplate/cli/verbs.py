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
        "import-slurm",
        "footplate.cli.importslurm:import_slurm",
        "Write a job file from a batch script of Slurm.",
        "footplate import-slurm train.sbatch",
    ),
    Verb(
        "convert",
        "footplate.cli.convert:convert",
        "Convert a job file from or to another system.",
        "footplate convert job.json --to footplate",
    ),
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
    ),
    Verb(
        "usage",
        "footplate.cli.usage:usage",
        "Show the resource usage of a job's tasks.",
        "footplate usage digits",
    ),
    Verb(
        "metrics",
        "footplate.cli.metrics:metrics",
        "Show what a job tells of its training.",
        "footplate metrics digits",
        ("emetrics",),
    ),
    Verb(
        "loglines",
        "footplate.cli.loglines:loglines",
        "Print numbered lines of a log with their times.",
        "footplate loglines digits --pagesize 20",
    ),
    Verb("events", "footplate.cli.events:events", "Print the events of a job.", "footplate events digits"),
    Verb("wait", "footplate.cli.jobs:wait", "Wait until a job ends.", "footplate wait digits --timeout 10m"),
    Verb("stop", "footplate.cli.jobs:stop", "Stop jobs.", "footplate stop digits", ("cancel",)),
    Verb(
        "clone",
        "footplate.cli.clone:clone",
        "Submit a job again, with changes.",
        "footplate clone digits --gpus 2",
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
        "files",
        "footplate.cli.jobfiles:files",
        "List the files that a job has made.",
        "footplate files digits",
    ),
    Verb(
        "download",
        "footplate.cli.download:download",
        "Download the results of a job.",
        "footplate download digits",
    ),
    Verb(
        "shell",
        "footplate.cli.shell:shell",
        "Open a shell inside a task.",
        "footplate shell digits",
    ),
    Verb(
        "ssh",
        "footplate.cli.ssh:ssh",
        "Enter a task with the ssh of this machine.",
        "footplate ssh digits",
    ),
    Verb(
        "ssh-config",
        "footplate.cli.ssh:ssh_config",
        "Print what lets ssh and editors find a job.",
        "footplate ssh-config digits",
    ),
    Verb(
        "exec",
        "footplate.cli.exec:exec_",
        "Run a command inside a task.",
        "footplate exec digits -- ls -l",
    ),
    Verb(
        "notebook",
        "footplate.cli.notebooks:notebook",
        "Start JupyterLab as a job, and open it.",
        "footplate notebook --gpus 1 --sample first-steps.ipynb",
    ),
    Verb(
        "run-local",
        "footplate.cli.runlocal:run_local",
        "Run a job file on this machine, without a server.",
        "footplate run-local job.yaml --nodes 2",
    ),
    Verb(
        "redirect",
        "footplate.cli.redirect:redirect",
        "Run a program written for a cloud against this server.",
        "footplate redirect -- python submit.py",
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
    Verb(
        "nodes", "footplate.cli.cluster:nodes", "List and manage machines.", "footplate nodes show worker-1"
    ),
    Verb(
        "images",
        "footplate.cli.images:images",
        "List and manage images.",
        "footplate images",
    ),
    Verb(
        "types",
        "footplate.cli.types:types",
        "List and manage instance types, with what is free.",
        "footplate types",
    ),
    Verb(
        "frameworks",
        "footplate.cli.frameworks:frameworks",
        "List and manage frameworks.",
        "footplate frameworks",
    ),
    Verb(
        "models",
        "footplate.cli.models:models",
        "Register, list and download models.",
        "footplate models register digits --job digits --path model.npz",
    ),
    Verb(
        "accounting",
        "footplate.cli.accounting:accounting",
        "Show what jobs used, in hours of GPUs, CPUs and memory.",
        "footplate accounting --by user",
    ),
    Verb(
        "sizes",
        "footplate.cli.retention:sizes",
        "Show how much of the disk jobs and models take.",
        "footplate sizes",
    ),
    Verb(
        "sweep",
        "footplate.cli.retention:sweep",
        "Remove what is kept no longer (admin).",
        "footplate sweep --dry-run",
    ),
    Verb(
        "settings",
        "footplate.cli.serversettings:settings",
        "Show and change the settings of the server (admin).",
        "footplate settings set trash_kept 7d",
    ),
    Verb(
        "environments",
        "footplate.cli.environments:environments",
        "List and remove Python environments of jobs.",
        "footplate environments",
    ),
    Verb(
        "alerts",
        "footplate.cli.alerts:alerts",
        "List what was told to me, and manage what is.",
        "footplate alerts add failed --level major",
    ),
    Verb(
        "channels",
        "footplate.cli.channels:channels",
        "List and manage channels of alerts.",
        "footplate channels test post",
    ),
    Verb(
        "storages",
        "footplate.cli.storages:storages",
        "List and manage storages.",
        "footplate storages",
    ),
    Verb("ls", "footplate.cli.files:ls", "List files of a storage.", "footplate ls home:data"),
    Verb(
        "cp",
        "footplate.cli.files:cp",
        "Copy files to, from and between storages.",
        "footplate cp data home:",
    ),
    Verb("mv", "footplate.cli.files:mv", "Move files of a storage.", "footplate mv home:a home:b"),
    Verb("rm", "footplate.cli.files:rm", "Delete files of a storage.", "footplate rm home:data/old.csv"),
    Verb("mkdir", "footplate.cli.files:mkdir", "Make a folder on a storage.", "footplate mkdir home:data"),
    Verb("cat", "footplate.cli.files:cat", "Print files of a storage.", "footplate cat home:notes.txt"),
    Verb("du", "footplate.cli.files:du", "Measure files of a storage.", "footplate du home:"),
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
    Verb("keys", "footplate.cli.keys:keys", "List and manage my access keys.", "footplate keys create tikit"),
    Verb("tokens", "footplate.cli.tokens:tokens", "List and manage my tokens.", "footplate tokens create ci"),
    Verb("ssh-keys", "footplate.cli.sshkeys:keys", "List and manage my SSH keys.", "footplate ssh-keys add"),
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
    Verb(
        "open",
        "footplate.cli.signinlink:open_",
        "Print a link that opens the console signed in.",
        "footplate open digits",
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

# What people type who come from elsewhere, and the verb for it.
MEANT = {
    "create": "submit",
    "jobs": "list",
    "kill": "stop",
    "sacct": "accounting",
    "sbatch": "submit",
    "scancel": "stop",
    "serve": "up",
    "server": "up",
    "sinfo": "nodes",
    "squeue": "list",
    "srun": "run",
    "start": "up",
    "top": "usage",
}
