"""The verb notebook: JupyterLab as a job, opened in a browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.reader import told_in
from footplate.cli.render import named
from footplate.cli.session import connect, json_option, print_json, tell
from footplate.cli.signinlink import show_service, with_host
from footplate.cli.table import Row, print_items
from footplate.domain.states import JobState


@click.command()
@click.option("-n", "--name", default="", help="Name of the job (default: by the time).")
@click.option("-q", "--queue", help="Queue to submit to.")
@click.option("--type", help="Instance type, instead of CPUs, memory and GPUs; see `footplate types`.")
@click.option("--cpus", type=float, help="CPUs of the notebook.")
@click.option("--memory", help="Memory of the notebook, such as 4GB.")
@click.option("--gpus", type=int, help="GPUs of the notebook.")
@click.option("--image", help="Container image.")
@click.option("--package", "packages", multiple=True, help="Python package to install; may be repeated.")
@click.option("-d", "--data", multiple=True, metavar="STORAGE[/PATH]", help="Data to mount; may be repeated.")
@click.option("--idle-limit", help="Stop it when nobody has used it for this long (default: 2h).")
@click.option("--sample", "samples", multiple=True, help="Sample to copy; may be repeated.")
@click.option("--samples", "lists_samples", is_flag=True, help="List the samples, and start nothing.")
@click.option("--print", "only_prints", is_flag=True, help="Print the address, open nothing.")
@click.option("--detach", "is_detached", is_flag=True, help="Submit, and do not wait for it.")
@json_option
def notebook(lists_samples: bool, only_prints: bool, is_detached: bool, as_json: bool, **fields: Any) -> None:
    """Start JupyterLab as a job, and open it in a browser.

    It waits in the queue like any job, and is stopped when nobody uses it. Its files stay in the folder
    notebooks of your home on the machine, or in an image with the job's output.
    """
    client = connect()
    if lists_samples:
        items = client.notebook_samples()
        print_items(items, ("NAME", "DESCRIPTION"), _row, phrase("There are no samples."), as_json)
        return
    given: dict[str, Any] = {
        name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()
    }
    job = client.create_notebook(**given)
    if is_detached:
        tell(job.data, phrase("Submitted {job}.", job=named(job)), as_json)
        return
    click.echo(phrase("{job} waits for its start", job=named(job)), err=True)
    job.wait(until=JobState.RUNNING)
    opened = job.open_service("jupyter")
    opened["url"] = with_host(opened["url"], client.url)
    if as_json:
        print_json({**opened, "job_id": job.id, "name": job.name})
        return
    show_service(opened, client.url, only_prints)
    again, stop = f"footplate open {job.name} jupyter", f"footplate stop {job.name}"
    click.echo(phrase("open again: {open}; stop: {stop}", open=again, stop=stop), err=True)


def _row(sample: Mapping[str, Any]) -> Row:
    return sample["file"], told_in(sample["description"])
