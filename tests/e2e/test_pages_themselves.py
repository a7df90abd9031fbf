"""How pages are read and compared: a page that says something else is found."""

from __future__ import annotations

from pathlib import Path

import pages
import pytest

PAGE = """# Title

<!-- file: a.yaml -->
```yaml
name: a
```

```console
$ footplate submit a.yaml \\
    --again
Submitted a as 2me2et0rs812 to queue default.
$ cat <<END
> one
> END
one
```

```json
{}
```

<!-- needs: curl -->
```console
$ curl x
```
"""


def test_a_page_is_files_and_commands_in_order(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    file, shown, needing = pages.blocks(page)
    assert (file.marks, file.text) == ({"file": "a.yaml"}, "name: a\n")
    assert list(shown.commands()) == [
        ("footplate submit a.yaml \\\n    --again", ["Submitted a as 2me2et0rs812 to queue default."]),
        ("cat <<END\none\nEND", ["one"]),
    ]
    assert needing.marks == {"needs": "curl"}


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a (2me2et0rs812) ran 0.51s", "a (2mgmny1c4whp) ran 12.3s"),
        ("NAME  AGE\nx     3s", "NAME    AGE\nx       14s"),
        ("x  3s  0.51s", "x  1m56s  2m3s"),
        ("first\n  …\nlast", "first\nmore\nmore\nlast"),
        ("at http://127.0.0.1:8750 (home …/x)", "at http://127.0.0.1:41234 (home /tmp/x)"),
        ("", "anything"),
        ("done", "done\n  details   footplate show a"),
    ],
)
def test_what_differs_each_time_is_no_difference(shown: str, printed: str) -> None:
    assert pages.differences("footplate list", shown.splitlines(), printed) == []


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a SUCCEEDED", "a FAILED"),
        ("first\nlast", "first\nmore\nlast"),
        ("first\n  …\nlast", "first"),
        ("2 jobs", "3 jobs"),
        ("one", ""),
    ],
)
def test_what_is_said_otherwise_is_a_difference(shown: str, printed: str) -> None:
    assert pages.differences("footplate list", shown.splitlines(), printed)


def test_a_job_that_is_followed_may_print_in_another_order() -> None:
    shown = ["· submitted to queue default", "hello", "a (2me2et0rs812) SUCCEEDED after 0.1s: done"]
    printed = (
        "hello\n· submitted to queue default\n· RUNNING: runs\na (2mgmny1c4whp) SUCCEEDED after 2.0s: done\n"
    )
    assert pages.differences("footplate submit a.yaml --follow", shown, printed) == []
    assert pages.differences("footplate submit a.yaml --follow", [*shown, "bye"], printed)


def test_an_id_of_a_page_can_be_named_later() -> None:
    ids = pages.ids_of(["a (2me2et0rs812) is deleted"], "a (2mgmny1c4whp) is deleted\n")
    assert pages.with_ids("footplate restore 2me2et0rs812", ids) == "footplate restore 2mgmny1c4whp"
