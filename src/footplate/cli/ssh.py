"""The verbs ssh and ssh-config: into a task with the SSH client of this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.session import connect, job_argument
from footplate.sdk.job import Job


@click.command("ssh", context_settings={"ignore_unknown_options": True})
@job_argument
@click.argument("words", nargs=-1, metavar="[COMMAND...]")
@click.option("-t", "--task", help="Task to enter, such as worker/0 (default: the first).")
def ssh(job: str, words: tuple[str, ...], task: str | None) -> None:
    """Enter a task with the ssh of this machine, with a key that is handed out for the job.

    Options of ssh go before the command: footplate ssh digits -- -L 6006:localhost:6006. The server must have
    an SSH gateway; footplate shell works without.
    """
    found = connect().job(job)
    program = shutil.which("ssh")
    if program is None:
        raise click.ClickException(phrase("there is no ssh on this machine: install an OpenSSH client"))
    at = found.ssh(task)
    key, hosts = _prepared(found, at)
    options = [f"-oUserKnownHostsFile={hosts}", "-oIdentitiesOnly=yes", f"-i{key}", f"-p{at['port']}"]
    own = _own_options(words)
    command = [program, *options, *own, f"{at['user']}@{at['host']}", *words[len(own) :]]
    os.execv(program, command)  # noqa: S606


def _own_options(words: tuple[str, ...]) -> list[str]:
    """The words at the beginning that are options of ssh, with what belongs to them."""
    taken: list[str] = []
    for word in words:
        follows = bool(taken) and len(taken[-1]) == 2 and taken[-1][1:] in "LRDoJWFlbBcEIimOQSw"
        if not (word.startswith("-") or follows):
            break
        taken.append(word)
    return taken


@click.command("ssh-config")
@job_argument
@click.option("-t", "--task", help="Task to enter, such as worker/0 (default: the first).")
def ssh_config(job: str, task: str | None) -> None:
    """Print what lets ssh, scp, rsync and editors find a job by its name.

    Add it to your own: footplate ssh-config digits >> ~/.ssh/config. Then: ssh digits. A task that is
    named is found as digits.worker-0.
    """
    found = connect().job(job)
    at = found.ssh(task)
    key, hosts = _prepared(found, at)
    lines = {
        "Host": found.name if task is None else f"{found.name}.{at['user'].rpartition('.')[2]}",
        "    HostName": at["host"],
        "    Port": at["port"],
        "    User": at["user"],
        "    IdentityFile": key,
        "    IdentitiesOnly": "yes",
        "    UserKnownHostsFile": hosts,
    }
    stanza = "\n".join(f"{name} {value}" for name, value in lines.items())
    click.echo(stanza)


def _prepared(job: Job, at: dict[str, Any]) -> tuple[Path, Path]:
    """Files with a key for the job, and with the server's own; made where they are not there yet."""
    cache = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(cache) if cache else Path.home() / ".cache") / "footplate" / "ssh"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    key, hosts = folder / job.id, folder / f"{job.id}.hosts"
    hosts.write_text(f"[{at['host']}]:{at['port']} {at['host_key']}\n")
    if not key.exists():
        descriptor = os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as out:
            out.write(job.ssh_key())
    return key, hosts
