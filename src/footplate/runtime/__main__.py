"""Entry point: `python3 -I FOLDER launch|serve|reach|pkill ARGUMENTS`, from any folder."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

VERBS = ("launch", "serve", "reach", "pkill")


def main() -> int:
    folder = Path(__file__).resolve().parent
    if len(sys.argv) < 2 or sys.argv[1] not in VERBS:
        sys.stderr.write(f"usage: python3 -I {folder} {'|'.join(VERBS)} [WORDS]\n")
        return 2
    # Its own folder comes first on the path; the parts are found as a package beside the standard library.
    sys.path = [path for path in sys.path if Path(path) != folder] + [str(folder.parent)]
    part = importlib.import_module(f"{folder.name}.{sys.argv[1]}")
    return int(part.main(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
