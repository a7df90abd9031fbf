"""The verb backup, and restoring a home folder from what it made."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.language import phrase
from footplate.cli.needs import server_parts
from footplate.cli.session import json_option, tell

if TYPE_CHECKING:
    from footplate.server.keeping import Restored

MANIFEST = "backup.json"
_HOME = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("folder", metavar="DIR", type=_HOME)
@click.option("--home", type=_HOME, help="Home folder of the server (FOOTPLATE_HOME).")
@click.option("--with-logs", is_flag=True, help="Include logs and records of jobs.")
@click.option("--with-files", is_flag=True, help="Include all files of jobs: logs, results, checkpoints.")
@click.option(
    "--with-storages",
    is_flag=True,
    help="Include people's files: the storages home and shared, HOME of tasks.",
)
@json_option
def backup(
    folder: Path, home: Path | None, with_logs: bool, with_files: bool, with_storages: bool, as_json: bool
) -> None:
    """Back up a server into a new folder, while it runs: settings, keys, database, uploaded code and models.

    Run it on the server's machine, as the server's account. The folder then holds the server's key and is
    closed to everybody else: keep it so.
    """
    with server_parts():
        from footplate.server.keeping import back_up
        from footplate.server.settings import default_home

    of_jobs = "files" if with_files else "logs" if with_logs else "nothing"
    try:
        made = back_up((home or default_home()).absolute(), folder, of_jobs, with_storages)
    except OSError as error:
        raise click.ClickException(
            _explain(
                error, phrase("the backup into {folder} failed, and nothing is left of it", folder=folder)
            )
        ) from None
    told = phrase(
        "Backed up into {folder}: {n:file|files}, {size:size}.[ {n_left_out:file|files} of other kinds "
        "(sockets, devices) left out.] Restore with: footplate restore {path} --home NEW_HOME",
        folder=folder,
        n=made.n_files,
        size=made.size_bytes,
        n_left_out=made.n_left_out or None,
        path=_as_path(folder),
    )
    tell(asdict(made) | {"folder": str(folder)}, told, as_json)


def looks_like_a_backup(text: str) -> bool:
    """Tell whether somebody who says `restore` means a folder; names of jobs have no slash."""
    return "/" in text or (Path(text) / MANIFEST).is_file()


def restore_home(folder: Path, home: Path | None, in_sqlite: bool, as_json: bool) -> None:
    """Make a home folder from a backup, and say what comes next."""
    with server_parts():
        from footplate.server.keeping import restore
        from footplate.server.settings import default_home

    into = (home or default_home()).absolute()
    try:
        done = restore(folder, into, in_sqlite)
    except OSError as error:
        raise click.ClickException(
            _explain(error, phrase("the restore into {home} failed", home=into))
        ) from None
    data = asdict(done.manifest) | {"home": str(into), "database_kind": done.database_kind}
    tell(data, _restored(done, into, folder), as_json)


def _restored(done: Restored, home: Path, folder: Path) -> str:
    said = [phrase("Restored {home} from {folder}.", home=home, folder=folder)]
    kinds = {"old": done.manifest.database_kind, "new": done.database_kind}
    if kinds["old"] != kinds["new"]:
        said.append(phrase("Its rows came from {old} and are in {new} now.", **kinds))
    if done.manifest.of_jobs == "nothing":
        said.append(phrase("The backup has no logs or files of jobs."))
    if not done.manifest.has_storages:
        said.append(phrase("The backup has no files of the storages home and shared."))
    said.append(phrase("Start it with: footplate up --home {home}", home=home))
    return " ".join(said)


def _explain(error: OSError, what: str) -> str:
    why = ": ".join(filter(None, (what, error.filename, error.strerror)))
    advice = phrase("run it as the server's account") if isinstance(error, PermissionError) else ""
    return "; ".join(filter(None, (why, advice)))


def _as_path(folder: Path) -> str:
    """A folder as `restore` knows it for one."""
    return str(folder) if "/" in str(folder) else f"./{folder}"
