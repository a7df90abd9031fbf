"""The verbs for files on storages: ls, cp, mv, rm, mkdir, cat, du."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.language import phrase
from footplate.cli.places import Remote, place, remote
from footplate.cli.render import show_time
from footplate.cli.session import confirm_deletion, connect, json_option, print_json, tell, yes_option
from footplate.cli.table import print_table
from footplate.cli.transfers import Meter, metered, tell_skipped
from footplate.domain.resources import show_bytes

if TYPE_CHECKING:
    from footplate.sdk.client import Client

COLUMNS = ("SIZE", "CHANGED", "NAME")
IF_EXISTS = ("replace", "refuse", "subfolder")


@click.command()
@click.argument("where", metavar="STORAGE:PATH")
@json_option
def ls(where: str, as_json: bool) -> None:
    """List a folder of a storage, by name; folders end with a slash."""
    asked = remote(where)
    files = connect().storage(asked.storage)
    entry = files.stat(asked.path)
    items = list(files.entries(asked.path)) if entry["kind"] == "folder" else [entry]
    if as_json:
        print_json({"items": items})
    else:
        print_table(COLUMNS, [_row(item) for item in items], phrase("{place} is empty.", place=str(asked)))


def _row(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    is_folder = entry["kind"] == "folder"
    size = "" if is_folder else show_bytes(entry["size_bytes"])
    return size, show_time(entry["modified_at"]), entry["name"] + ("/" if is_folder else "")


@click.command()
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.argument("target")
@click.option(
    "--if-exists",
    type=click.Choice(IF_EXISTS),
    default="replace",
    show_default=True,
    help="What to do with an upload of a name that is taken: replace, refuse, or put into a new sub-folder.",
)
@json_option
def cp(sources: Sequence[str], target: str, if_exists: str, as_json: bool) -> None:
    """Copy files and folders; each place is STORAGE:PATH or a local path, at least one a storage.

    A copy goes into the target under its own name if that is a folder or ends with a slash. A large upload
    that was interrupted continues when you repeat the command.
    """
    client, to = connect(), place(target)
    if len(sources) > 1 and isinstance(to, Remote) and not to.is_folder:
        to = Remote(to.storage, f"{to.path}/")
    with metered() as meter:
        copied = [_copy(client, place(source), to, if_exists, meter) for source in sources]
    tell_skipped(meter.skipped)
    done = {"items": [str(one) for one in copied], "n_files": meter.n_files, "size_bytes": meter.n_bytes}
    told = {
        "sources": list(sources),
        "places": [str(one) for one in copied],
        "size": show_bytes(meter.n_bytes),
    }
    tell(done, phrase("Copied {sources:comma} to {places:comma} ({size}).", **told), as_json)


def _copy(
    client: Client, source: Remote | Path, to: Remote | Path, if_exists: str, meter: Meter
) -> Remote | Path:
    if isinstance(to, Remote) and isinstance(source, Path):
        _require_local(source)
        files = client.storage(to.storage)
        path = files.upload(source, to.path, if_exists=if_exists, on_progress=meter.tell)
        return Remote(to.storage, path)
    if isinstance(source, Remote) and isinstance(to, Path):
        return client.storage(source.storage).download(source.path, to, on_progress=meter.tell)
    if isinstance(source, Remote) and isinstance(to, Remote):
        goal = _goal(client, source, to)
        replaces = {"replaces": if_exists == "replace"}
        done = client.storage(source.storage).copy(source.path, goal.path, storage=goal.storage, **replaces)
        meter.add(done["n_files"], done["size_bytes"])
        return goal
    raise click.UsageError(
        phrase("neither place is on a storage: write one as STORAGE:PATH, such as home:data")
    )


def _require_local(path: Path) -> None:
    if not path.exists():
        raise click.BadParameter(phrase("there is no local file {path:quoted}", path=str(path)))


def _goal(client: Client, source: Remote, to: Remote) -> Remote:
    """Where something of a storage goes: into a folder under its own name, else in the very place."""
    if to.is_folder:
        return to.within(source.name)
    from footplate.domain.errors import NotFound

    try:
        is_folder = client.storage(to.storage).stat(to.path)["kind"] == "folder"
    except NotFound:
        return to
    return to.within(source.name) if is_folder else to


@click.command()
@click.argument("sources", metavar="STORAGE:PATH...", nargs=-1, required=True)
@click.argument("target", metavar="STORAGE:PATH")
@click.option("-f", "--force", is_flag=True, help="Replace what is there.")
@json_option
def mv(sources: Sequence[str], target: str, force: bool, as_json: bool) -> None:
    """Move or rename files and folders of a storage, or move them to another storage."""
    client, to = connect(), remote(target)
    if len(sources) > 1 and not to.is_folder:
        to = Remote(to.storage, f"{to.path}/")
    moved = []
    for source in map(remote, sources):
        goal = _goal(client, source, to)
        client.storage(source.storage).move(source.path, goal.path, storage=goal.storage, replaces=force)
        moved.append(str(goal))
    message = phrase("Moved {sources:comma} to {places:comma}.", sources=list(sources), places=moved)
    tell({"items": moved}, message, as_json)


@click.command()
@click.argument("places", metavar="STORAGE:PATH...", nargs=-1, required=True)
@click.option("-r", "--recursive", is_flag=True, help="Delete folders with all that is in them.")
@yes_option
@json_option
def rm(places: Sequence[str], recursive: bool, yes: bool, as_json: bool) -> None:
    """Delete files of a storage; there is no trash. To delete a job: footplate delete JOB."""
    wanted = [remote(text) for text in places]
    if not yes:
        confirm_deletion(phrase("{places:comma} permanently", places=[str(one) for one in wanted]))
    client = connect()
    for one in wanted:
        client.storage(one.storage).remove(one.path, recursive=recursive)
    message = phrase("Deleted {places:comma}.", places=[str(one) for one in wanted])
    tell({"items": [str(one) for one in wanted]}, message, as_json)


@click.command()
@click.argument("where", metavar="STORAGE:PATH")
@json_option
def mkdir(where: str, as_json: bool) -> None:
    """Make a folder on a storage, and those around it."""
    asked = remote(where)
    made = connect().storage(asked.storage).make_folder(asked.path)
    tell(made, phrase("Made {place}.", place=f"{asked.storage}:{made['path']}"), as_json)


@click.command()
@click.argument("places", metavar="STORAGE:PATH...", nargs=-1, required=True)
def cat(places: Sequence[str]) -> None:
    """Print files of a storage, byte for byte."""
    client = connect()
    for one in map(remote, places):
        for chunk in client.storage(one.storage).read(one.path):
            sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


@click.command()
@click.argument("where", metavar="STORAGE:PATH")
@json_option
def du(where: str, as_json: bool) -> None:
    """Measure a file, or a folder with all that is in it."""
    asked = remote(where)
    used = connect().storage(asked.storage).usage(asked.path)
    told = {"size": show_bytes(used["size_bytes"]), "n": used["n_files"], "place": str(asked)}
    tell(used, phrase("{size} in {n:file|files} in {place}", **told), as_json)
