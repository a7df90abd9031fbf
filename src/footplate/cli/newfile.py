"""Writing a file that a person asked for: none that is there is overwritten by accident."""

from __future__ import annotations

from pathlib import Path

import click

from footplate.cli.language import phrase


def refuse_existing(path: Path, force: bool) -> None:
    """Before anything is asked: nobody should answer in vain."""
    if path.exists() and not force:
        raise _exists(path)


def _exists(path: Path) -> click.ClickException:
    return click.ClickException(phrase("{path} already exists; --force overwrites it", path=path))


def write_new(path: Path, text: str, force: bool) -> None:
    try:
        with path.open("w" if force else "x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        raise click.ClickException(
            phrase("cannot write {path}: {error}", path=path, error=error.strerror)
        ) from None
