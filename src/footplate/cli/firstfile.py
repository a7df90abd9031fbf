"""The job file that `footplate init` writes: what is required, and the rest as comments to try."""

from __future__ import annotations

from footplate.cli.language import phrase

TEMPLATE = """\
# A Footplate job. Only name and command are required. Lines that begin with # are examples:
# remove the # to use one. Each field is explained in docs/reference/job-file.md.
name: {name}
command: {command}

# Resources of each task. The job waits until they are free.
cpus: {cpus}
memory: {memory}
{gpus}
# gpu_type: H100           # any type if left out

# Code to upload: this folder, without what .gitignore and .footplateignore list.
{code}

# Python packages: a file of the code, or a list such as [numpy, torch]. They are installed once.
{environment}

# Values to use in the command as ${{{{ parameters.epochs }}}}; `footplate submit -p epochs=10` changes one.
# parameters: {{epochs: 5}}
# env: {{OMP_NUM_THREADS: "1"}}

# Distributed training: several tasks that start together, instead of the command above.
# Each task finds RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in its environment.
# roles:
#   - name: worker
#     count: 2
#     cpus: 1
#     memory: 1GB
#     command: python train.py --epochs ${{{{ parameters.epochs }}}}

# queue: default
# priority: 0              # jobs with a higher number start first
# image: python:3.12       # container image; without one, the tasks use the programs of the machine
# retry: 1                 # start again this often after a failure
# time_limit: 1h           # stop after this time
# tags: [first-steps]
"""


def template() -> str:
    """The file in the reader's language, with places for what differs."""
    return phrase(TEMPLATE)
