"""The folders of a rehearsed job: a copy of its code for each task, output, checkpoints."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from footplate.domain.cluster import TaskPlacement
from footplate.engines.base import LaunchPlan, TaskPaths
from footplate.engines.local.code import place_code, unpack
from footplate.engines.strategies import Prepared
from footplate.sdk.packing import Selection, pack


@dataclass(frozen=True, slots=True)
class Folders:
    """Below one folder, which is removed or kept as a whole."""

    root: Path

    @property
    def output(self) -> Path:
        return self.root / "output"

    @property
    def checkpoints(self) -> Path:
        return self.root / "checkpoints"

    @property
    def code(self) -> Path:
        return self.root / "code"

    def paths(self, plan: LaunchPlan, task: TaskPlacement) -> TaskPaths:
        own = self.root / f"attempt-{plan.attempt}" / f"{task.role}-{task.index}"
        return TaskPaths(
            work=str(own / "work"),
            checkpoints=str(self.checkpoints),
            output=str(self.output),
            notice=str(own / "notice"),
            strategy=str(self.root / f"attempt-{plan.attempt}" / "strategy"),
        )

    def take_code(self, selection: Selection | None) -> None:
        """Put the files down that a submit would send, and no others."""
        for folder in (self.output, self.checkpoints):
            folder.mkdir(parents=True, exist_ok=True)
        if selection is None:
            return
        with pack(selection) as archive:
            packed = self.root / "code.archive"
            with packed.open("wb") as file:
                shutil.copyfileobj(archive.file, file)
        unpack(packed, self.code)
        packed.unlink()

    def prepare(self, prepared: Prepared) -> None:
        """Put the files of a strategy down, and a copy of the code for each task."""
        for path, text in prepared.files.items():
            file = Path(prepared.shared_paths.strategy) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        for task in prepared.tasks:
            work = Path(prepared.paths(task).work)
            if self.code.exists():
                place_code(self.code, work)
            work.mkdir(parents=True, exist_ok=True)

    @property
    def has_results(self) -> bool:
        return any(any(folder.iterdir()) for folder in (self.output, self.checkpoints) if folder.exists())
