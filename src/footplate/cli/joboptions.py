"""The options that describe a job: the same for submit, run and clone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.envfile import read_env_file
from footplate.cli.language import phrase
from footplate.cli.session import Function, pair


def _data(text: str) -> dict[str, Any]:
    """Read `STORAGE[/SOURCE]:PATH[:rw]`."""
    what, _, where = text.partition(":")
    path, _, mode = where.partition(":")
    storage, _, source = what.partition("/")
    if not storage or not path or mode not in ("", "ro", "rw"):
        form = "STORAGE[/SOURCE]:PATH[:rw]"
        raise click.BadParameter(phrase("{given:quoted} must be written {form}", given=text, form=form))
    return {"storage": storage, "source": source, "path": path, "read_only": mode != "rw"}


def _secret(text: str) -> tuple[str, str]:
    """Read `[VARIABLE=]NAME`."""
    variable, equals, name = text.partition("=")
    if not variable or (equals and not name):
        form = "[VARIABLE=]NAME"
        raise click.BadParameter(phrase("{given:quoted} must be written {form}", given=text, form=form))
    return variable, name if equals else variable


def _port(text: str) -> dict[str, Any]:
    """Read `LABEL[:COUNT][@FIRST]`."""
    match = re.fullmatch(r"([^:@]+)(?::(\d{1,3}))?(?:@(\d{1,5}))?", text)
    if match is None:
        form = "LABEL[:COUNT][@FIRST]"
        raise click.BadParameter(phrase("{given:quoted} must be written {form}", given=text, form=form))
    label, count, first = match.groups()
    return {"label": label, "count": int(count or 1), "begin_at": int(first or 0)}


_OPTIONS = (
    click.option("-n", "--name", help="Name of the job."),
    click.option("-q", "--queue", help="Queue to submit to."),
    click.option("--priority", type=int, help="Higher starts first."),
    click.option("--description", help="What the job is for."),
    click.option(
        "--shared/--private",
        default=None,
        help="Whether everybody in the queue may see its logs, configuration and files "
        "(default: what the queue says).",
    ),
    click.option("--image", help="Container image."),
    click.option(
        "--type", help="Instance type of each task, instead of CPUs, memory and GPUs; see `footplate types`."
    ),
    click.option(
        "--framework", help="Framework, such as pytorch or pytorch:2.4; see `footplate frameworks`."
    ),
    click.option("--cpus", type=float, help="CPUs of each task."),
    click.option("--memory", help="Memory of each task, such as 4GB."),
    click.option("--shm", help="Shared memory of each task, such as 1GB."),
    click.option("--gpus", type=int, help="GPUs of each task."),
    click.option("--gpu-type", help="GPU type."),
    click.option("--count", type=int, help="Number of tasks."),
    click.option("--strategy", help="Strategy for distributed training; see `footplate strategies`."),
    click.option("--retry", type=int, help="Number of retries after a failure."),
    click.option("--time-limit", help="Longest run time, such as 2h."),
    click.option(
        "--deadline",
        help="When the job must be over, such as 2030-01-31T18:00, or with a zone: 2030-01-31T18:00:00Z.",
    ),
    click.option("--tag", "tags", multiple=True, help="Tag to find the job by; may be repeated."),
    click.option(
        "-p",
        "--param",
        "parameters",
        type=pair,
        metavar="NAME=VALUE",
        multiple=True,
        help="Parameter; may be repeated.",
    ),
    click.option(
        "-e",
        "--env",
        type=pair,
        metavar="NAME=VALUE",
        multiple=True,
        help="Environment variable; may be repeated.",
    ),
    click.option(
        "--env-file",
        "env_files",
        type=click.Path(exists=True, dir_okay=False),
        multiple=True,
        help="Read variables from FILE, one NAME=VALUE per line; --env overrides it. May be repeated.",
    ),
    click.option(
        "--secret",
        "secrets",
        type=_secret,
        metavar="[VARIABLE=]NAME",
        multiple=True,
        help="Expose stored secret NAME as $VARIABLE (default: $NAME); may be repeated.",
    ),
    click.option(
        "-d",
        "--data",
        type=_data,
        metavar="STORAGE[/SOURCE]:PATH[:rw]",
        multiple=True,
        help="Mount data at PATH, such as datasets/mnist:/data; may be repeated.",
    ),
    click.option(
        "--results",
        metavar="STORAGE:[PATH]",
        help="Keep the job's results on a storage, such as home: or bucket:runs.",
    ),
    click.option(
        "--image-credentials", metavar="SECRET", help="Secret of kind registry, to pull a private image."
    ),
    click.option(
        "--port",
        "ports",
        type=_port,
        metavar="LABEL[:COUNT][@FIRST]",
        multiple=True,
        help="Ports of each task, such as http, grpc:2 or http@8080; may be repeated.",
    ),
    click.option("--grace", help="Time between SIGTERM and SIGKILL, such as 30s."),
    click.option("--idle-limit", help="Stop the job when it has been idle for this long, such as 1h."),
    click.option(
        "--keep-on-failure", help="Keep the environment of a failed task for this long, such as 30m."
    ),
)


def job_options(function: Function) -> Function:
    """Give a command the options that describe a job."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def overrides_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """Gather the fields of the job that options name."""
    given = {name: value for name, value in options.items() if value not in (None, ())}
    if "parameters" in given:
        given["parameters"] = dict(given["parameters"])
    files = [read_env_file(path) for path in given.pop("env_files", ())]
    if files or "env" in given:
        given["env"] = {name: value for one in files for name, value in one.items()}
        given["env"].update(options["env"])
    if "secrets" in given:
        given["secrets"] = dict(given["secrets"])
    for name in {"tags", "data", "ports"} & given.keys():
        given[name] = list(given[name])
    return given
