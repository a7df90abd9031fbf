"""Every setting that the console shows has a meaning in Chinese."""

from __future__ import annotations

import re
from pathlib import Path

from footplate.server.settings import Settings
from footplate.server.shownsettings import shown

ROOT = Path(__file__).parents[2]
MEANINGS = ROOT / "console/src/features/admin/settings/meanings.ts"


def test_every_setting_has_a_meaning_in_chinese() -> None:
    told = set(re.findall(r"^  (\w+):", MEANINGS.read_text(), re.MULTILINE))
    assert told == {one["name"] for one in shown(Settings(Path("/home")))}
