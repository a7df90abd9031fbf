"""How the command shows models, versions and comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from footplate.cli.language import phrase
from footplate.cli.render import print_fields, show_time
from footplate.cli.table import Row, print_table
from footplate.domain.resources import show_bytes

VERSION_COLUMNS = ("VERSION", "ALIASES", "FRAMEWORK", "METRICS", "SIZE", "JOB", "CREATED", "DESCRIPTION")
FILE_COLUMNS = ("PATH", "SIZE", "SHA256")
DIFFERENCE_COLUMNS = ("NAME", "FIRST", "SECOND")

Data = Mapping[str, Any]


def print_model(model: Data) -> None:
    print_fields(
        {
            phrase("Model"): f"{model['name']} ({model['id']})",
            phrase("Owner"): model["owner"],
            phrase("Shared"): phrase("yes") if model["is_shared"] else phrase("no"),
            phrase("Description"): model["description"],
            phrase("Tags"): ", ".join(model["tags"]),
        }
    )
    click.echo()
    rows = [_version_row(one) for one in model["versions"]]
    print_table(VERSION_COLUMNS, rows, phrase("There is no version."))


def _version_row(version: Data) -> Row:
    return (
        str(version["number"]),
        ", ".join(version["aliases"]),
        version["framework"],
        _metrics(version["metrics"]),
        show_bytes(version["size_bytes"]),
        version["origin"]["job_name"],
        show_time(version["created_at"]),
        version["description"],
    )


def _metrics(metrics: Mapping[str, float]) -> str:
    return " ".join(f"{name}={value:g}" for name, value in metrics.items())


def print_version(version: Data) -> None:
    origin = version["origin"]
    job = f"{origin['job_name']} ({origin['job_id']})" if origin["job_id"] else ""
    print_fields(
        {
            phrase("Model"): f"{version['model']}:{version['number']}",
            phrase("Aliases"): ", ".join(version["aliases"]),
            phrase("Description"): version["description"],
            phrase("Framework"): version["framework"],
            phrase("Format"): version["format"],
            phrase("Environment"): version["environment"] or version["image"],
            phrase("Metrics"): _metrics(version["metrics"]),
            phrase("Tags"): ", ".join(version["tags"]),
            phrase("Job"): job,
            phrase("Code"): origin["code"][:19],
            phrase("Registered"): f"{show_time(version['created_at'])} ({version['created_by']})",
        }
    )
    click.echo()
    rows = [(one["path"], show_bytes(one["size_bytes"]), one["sha256"][:12]) for one in version["files"]]
    print_table(FILE_COLUMNS, rows, "")


def print_comparison(found: Data) -> None:
    rows: list[Row] = []
    for part in ("fields", "parameters", "metrics"):
        rows += [(name, _plain(one["first"]), _plain(one["second"])) for name, one in found[part].items()]
    rows += [(path, _size(one["first"]), _size(one["second"])) for path, one in found["files"].items()]
    print_table(DIFFERENCE_COLUMNS, rows, phrase("The versions say the same."))
    click.echo(phrase("{n:file is|files are} the same in both.", n=found["n_same_files"]))


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(map(_plain, value)) or "-"
    return "-" if value in (None, "") else str(value)


def _size(file: Data | None) -> str:
    return "-" if file is None else f"{show_bytes(file['size_bytes'])} {file['sha256'][:12]}"
