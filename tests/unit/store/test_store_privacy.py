"""The home is closed to other accounts, whatever lies there."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from footplate.home import layout
from footplate.home.layout import FILES, FOLDERS
from footplate.store.privacy import keep_private

EXAMPLES = {
    "job_id": "2me19e9zbny0",
    "name": "ann",
    "node": "n1",
    "attempt_id": "2me19e9zbny0.0",
    "task": "main-0",
}
IN_A_HOME = sorted(
    name
    for name, one in vars(layout).items()
    if callable(one) and "home" in inspect.signature(one).parameters
)


@pytest.mark.parametrize("name", IN_A_HOME)
def test_all_that_the_layout_names_is_closed(name: str) -> None:
    place = getattr(layout, name)
    wanted = [one for one in inspect.signature(place).parameters if one != "home"]
    path = place(
        Path("/home"), **{one: EXAMPLES.get(one, 0 if one != "inner" else "output") for one in wanted}
    )
    assert path.relative_to("/home").parts[0] in (*FOLDERS, *FILES)


def test_folders_are_made_and_closed_and_files_are_closed_where_they_are(tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o644)
    keep_private(tmp_path, tells=False)
    modes = {path.name: path.stat().st_mode & 0o077 for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys((*FOLDERS, *FILES), 0)
    assert all((tmp_path / name).is_file() for name in FILES)
