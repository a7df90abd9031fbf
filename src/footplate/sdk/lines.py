"""Output cut into lines as it arrives."""

from __future__ import annotations


def fold(line: str) -> str:
    """Reduce a line that was redrawn with carriage returns, as progress bars are, to its last drawing."""
    drawings = [drawing for drawing in line.split("\r") if drawing]
    return drawings[-1] if drawings else ""


class Lines:
    """Collects pieces of text and returns whole lines, with progress bars folded."""

    def __init__(self) -> None:
        self._rest = ""

    @property
    def unfinished(self) -> str:
        """The line being drawn, as it looks now."""
        return fold(self._rest)

    def feed(self, text: str) -> list[str]:
        """Take a piece and return the lines that it completed, without their ends."""
        *lines, rest = (self._rest + text).split("\n")
        # Older drawings of the unfinished line are dropped, so that an endless bar takes no memory.
        self._rest = rest if "\r" not in rest else fold(rest) + "\r" * rest.endswith("\r")
        return [fold(line) for line in lines]

    def finish(self) -> list[str]:
        """Return what is left when nothing more will come."""
        rest, self._rest = self.unfinished, ""
        return [rest] if rest else []
