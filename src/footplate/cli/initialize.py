"""The verb init: a commented job file to begin with."""

from __future__ import annotations

import re
from pathlib import Path

import click

from footplate.cli.language import phrase
from footplate.cli.render import print_hints
from footplate.cli.session import json_option, tell

TEMPLATE = """\
# A Footplate job. Only name and command are needed; the rest shows defaults or examples.
name: {name}
command: python -c "print('hello from Footplate')"

# What each task gets.
cpus: 1
memory: 1GB
# gpus: 1
# gpu_type: H100

# Code to send along: this folder, without what .gitignore and .footplateignore name.
# code: .

# Python packages; instead of the list, a file of the code, such as requirements.txt.
# environment: {{requirements: [numpy, torch]}}

# Values for commands and environment, as ${{{{ parameters.epochs }}}}; change one with -p epochs=10.
# parameters: {{epochs: 5}}
# env: {{OMP_NUM_THREADS: "1"}}

# Several kinds of tasks, instead of the command above. Each task finds RANK, WORLD_SIZE,
# MASTER_ADDR and MASTER_PORT in its environment.
# roles:
#   - name: worker
#     count: 2
#     cpus: 1
#     memory: 1GB
#     command: python train.py --epochs ${{{{ parameters.epochs }}}}

# queue: default
# priority: 0              # higher starts first
# image: python:3.12       # absent: this machine's own environment
# retry: 1                 # try again after a failure
# time_limit: 1h
# tags: [first-steps]
"""


@click.command()
@click.argument("file", default="footplate.yaml", type=click.Path(dir_okay=False))
@click.option("-n", "--name", help="Name of the job (default: the folder's).")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@json_option
def init(file: str, name: str | None, force: bool, as_json: bool) -> None:
    """Write a commented job file that is ready to run."""
    path = Path(file)
    name = name or re.sub(r"[^A-Za-z0-9._-]+", "-", path.absolute().parent.name).strip("-._") or "job"
    try:
        with path.open("w" if force else "x", encoding="utf-8") as out:
            out.write(TEMPLATE.format(name=name))
    except FileExistsError:
        raise click.ClickException(
            phrase("{path} already exists; --force overwrites it", path=path)
        ) from None
    except OSError as error:
        raise click.ClickException(
            phrase("cannot write {path}: {error}", path=path, error=error.strerror)
        ) from None
    tell({"path": str(path), "name": name}, phrase("Wrote {path}.", path=path), as_json)
    if not as_json:
        print_hints(
            {
                phrase("try it"): f"footplate submit {path} --dry-run",
                phrase("run it"): f"footplate submit {path} --follow",
            }
        )
