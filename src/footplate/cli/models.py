"""The verb models: register trained models, look at them, fetch and manage them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.modelenvironments import environments
from footplate.cli.modelviews import print_comparison, print_model, print_version
from footplate.cli.nouns import Nouns
from footplate.cli.render import show_time
from footplate.cli.session import (
    Function,
    confirm_deletion,
    connect,
    json_option,
    pair,
    print_json,
    tell,
    yes_option,
)
from footplate.cli.table import Row, print_items
from footplate.domain.model import LATEST, read_reference
from footplate.domain.resources import show_bytes

COLUMNS = ("NAME", "OWNER", "VERSIONS", "ALIASES", "FRAMEWORK", "SIZE", "CHANGED", "DESCRIPTION")
NONE = "No models. Register one: footplate models register NAME --job JOB --path FILE"
PLACES = ("output", "checkpoints", "work")


@click.group(cls=Nouns, invoke_without_command=True)
@click.option("--search", default="", help="Part of the name, the description or the tags.")
@click.option("--owner", default="", help="Only models of this person.")
@click.option("--tag", default="", help="Only models with this tag.")
@click.option("--job", default="", help="Only models with a version from this job (ID).")
@click.option("--trash", is_flag=True, help="Those in the trash instead.")
@json_option
@click.pass_context
def models(ctx: click.Context, /, as_json: bool, **asked: Any) -> None:
    """List models, or register, download and manage them.

    A model is named by NAME or ID; one of its versions by NAME:3 or NAME@production.
    """
    if ctx.invoked_subcommand is None:
        print_items(list(connect().models(**asked)), COLUMNS, _row, phrase(NONE), as_json)


models.add_command(environments)


def _row(model: Mapping[str, Any]) -> Row:
    latest = model["latest"] or {}
    return (
        model["name"] if not model["deleted_at"] else model["id"],
        model["owner"],
        str(model["n_versions"]),
        ", ".join(f"{alias}={number}" for alias, number in sorted(model["aliases"].items())),
        latest.get("framework", ""),
        show_bytes(model["size_bytes"]),
        show_time(model["updated_at"]),
        model["description"] or latest.get("description", ""),
    )


@models.command("show")
@click.argument("model")
@click.option("--trash", is_flag=True, help="With versions that are in the trash.")
@json_option
def show(model: str, trash: bool, as_json: bool) -> None:
    """Show a model with its versions, or with NAME:3 one version and its files."""
    client, wanted = connect(), read_reference(model)
    if wanted.number is None and not wanted.alias:
        found = client.model(wanted.name, trash=trash)
        print_json(found) if as_json else print_model(found)
    else:
        version = client.model_version(model)
        print_json(version) if as_json else print_version(version)


def _about(function: Function) -> Function:
    """What `register` and `describe` can say of a version."""
    options: tuple[Callable[[Function], Function], ...] = (
        click.option("--framework", help="Framework of the model, such as pytorch:2.4."),
        click.option("--format", "format_", help="Format of the files, such as ONNX."),
        click.option("--environment", help="Inference environment; `footplate models environments`."),
        click.option("--image", help="Image to serve it in, where no environment fits."),
        click.option("--description", help="What it is."),
        click.option("-m", "--metric", "metrics", multiple=True, help="NAME=NUMBER; may be repeated."),
        click.option("-t", "--tag", "tags", multiple=True, help="Tag; may be repeated."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def _said(metrics: Iterable[str], tags: Iterable[str], format_: str | None, **rest: Any) -> dict[str, Any]:
    said = {"metrics": _metrics(metrics), "tags": list(tags), "format": format_, **rest}
    return {name: value for name, value in said.items() if value not in (None, [], {})}


def _metrics(given: Iterable[str]) -> dict[str, float]:
    try:
        return {name: float(value) for name, value in map(pair, given)}
    except ValueError:
        raise click.BadParameter(
            phrase("a metric must be written NAME=NUMBER, such as accuracy=0.98")
        ) from None


@models.command("register")
@click.argument("name")
@click.option("--job", help="Job whose files are the model.")
@click.option("--path", default="", help="File or folder of the job, or on the storage; by default all.")
@click.option("--from", "place", type=click.Choice(PLACES), default="output", help="Folder of the job.")
@click.option("--storage", help="Storage with the files.")
@click.option("--file", type=click.Path(exists=True, path_type=Path), help="Local file or folder to send.")
@click.option("--alias", "aliases", multiple=True, help="Alias of the version, such as production.")
@click.option("--shared/--private", default=None, help="Whether everybody may see the model.")
@_about
@json_option
def register(
    name: str,
    job: str | None,
    path: str,
    place: str,
    storage: str | None,
    file: Path | None,
    aliases: tuple[str, ...],
    shared: bool | None,
    as_json: bool,
    **about: Any,
) -> None:
    """Register a version of model NAME: from a job, a storage or local files.

    The files are copied: the model stays when the job is deleted. A name that is new makes a new model.
    """
    if [job, storage, file].count(None) != 2:
        raise click.UsageError(phrase("give just one of --job, --storage and --file"))
    said = {**_said(**about), "aliases": list(aliases), "shared": shared}
    source = path if file is None else file
    made = connect().register_model(name, source, job=job or "", place=place, storage=storage or "", **said)
    told = {"model": made["model"], "version": made["number"], "size": show_bytes(made["size_bytes"])}
    message = phrase(
        "Registered version {version} of model {model} ({n:file|files}, {size}).", n=made["n_files"], **told
    )
    tell(made, message, as_json)


@models.command("download")
@click.argument("model")
@click.argument("target", required=False, type=click.Path(path_type=Path))
@json_option
def download(model: str, target: Path | None, as_json: bool) -> None:
    """Download a model: NAME, NAME:3 or NAME@production; without a version, the highest.

    TARGET is the file or folder to write, by default one in the current folder.
    """
    place = connect().download_model(model, target)
    tell(
        {"model": model, "path": str(place)},
        phrase("Saved {model} to {path}.", model=model, path=place),
        as_json,
    )


@models.command("describe")
@click.argument("model")
@click.option("--name", help="New name of the model.")
@click.option("--shared/--private", default=None, help="Whether everybody may see the model.")
@_about
@json_option
def describe(model: str, name: str | None, shared: bool | None, as_json: bool, **about: Any) -> None:
    """Change what is said of a model, or with NAME:3 of one version."""
    said, client, wanted = _said(**about), connect(), read_reference(model)
    whole = {"name": name, "shared": shared}
    whole = {key: value for key, value in whole.items() if value is not None}
    if wanted.number is None and not wanted.alias:
        whole |= {key: said.pop(key) for key in ("description", "tags") if key in said}
    elif whole:
        raise click.UsageError(
            phrase("--name, --shared and --private are for whole models: leave the version out")
        )
    if not said and not whole:
        raise click.UsageError(phrase("nothing to change: give at least one option"))
    changed = client.edit_model(wanted.name, **whole) if whole else {}
    target = str(changed.get("id", wanted.name)) if not said or whole else model
    if said:
        changed = client.edit_model_version(target, **said)
    tell(changed, phrase("Changed model {model}.", model=model), as_json)


@models.command("tag")
@click.argument("model")
@click.argument("tags", nargs=-1, required=True)
@click.option("--remove", is_flag=True, help="Take the tags away.")
@json_option
def tag(model: str, tags: tuple[str, ...], remove: bool, as_json: bool) -> None:
    """Add tags to a model, or with NAME:3 to one version."""
    client, wanted = connect(), read_reference(model)
    is_whole = wanted.number is None and not wanted.alias
    before = client.model(wanted.name)["tags"] if is_whole else client.model_version(model)["tags"]
    kept = [one for one in before if one not in tags]
    after = kept if remove else [*kept, *dict.fromkeys(tags)]
    edited = (
        client.edit_model(wanted.name, tags=after)
        if is_whole
        else client.edit_model_version(model, tags=after)
    )
    message = phrase("Model {model} has the tags {tags:comma}.", model=model, tags=after or ["-"])
    tell(edited, message, as_json)


@models.command("alias")
@click.argument("model")
@click.argument("alias")
@click.option("--remove", is_flag=True, help="Take the alias away.")
@json_option
def alias(model: str, alias: str, remove: bool, as_json: bool) -> None:
    """Let ALIAS name a version, such as NAME:3; without a version, the highest."""
    client, wanted = connect(), read_reference(model)
    if remove:
        client.remove_model_alias(wanted.name, alias)
        told = phrase("Model {model} has no alias {alias} any more.", model=wanted.name, alias=alias)
        tell({"model": wanted.name, "alias": alias, "is_deleted": True}, told, as_json)
        return
    which = wanted.alias or (LATEST if wanted.number is None else str(wanted.number))
    changed = client.set_model_alias(wanted.name, alias, which)
    named = {"model": changed["name"], "alias": alias, "version": changed["aliases"][alias]}
    tell(changed, phrase("{model}@{alias} is version {version} now.", **named), as_json)


@models.command("compare")
@click.argument("model")
@click.argument("first")
@click.argument("second", default=LATEST)
@json_option
def compare(model: str, first: str, second: str, as_json: bool) -> None:
    """Compare two versions of a model, by numbers or aliases; the second is by default the highest."""
    found = connect().compare_models(model, first, second)
    print_json(found) if as_json else print_comparison(found)


@models.command("delete")
@click.argument("model")
@click.option("--for-good", is_flag=True, help="Not into the trash: it goes now.")
@yes_option
@json_option
def delete(model: str, for_good: bool, yes: bool, as_json: bool) -> None:
    """Move a model, or with NAME:3 one version of it, to the trash."""
    if for_good and not yes:
        confirm_deletion(phrase("model {model} permanently", model=model))
    connect().delete_model(model, for_good=for_good)
    done = (
        phrase("Deleted model {model}.", model=model)
        if for_good
        else phrase("Moved model {model} to the trash.", model=model)
    )
    tell({"model": model, "is_deleted": True}, done, as_json)


@models.command("restore")
@click.argument("model")
@json_option
def restore(model: str, as_json: bool) -> None:
    """Restore a model from the trash by its ID, or with NAME:3 one version of it."""
    tell(connect().restore_model(model), phrase("Restored model {model}.", model=model), as_json)
