"""Exponential back-off before a job or a task is retried."""

from __future__ import annotations

from dataclasses import dataclass

# An attempt that fails sooner, or before all its tasks have run, has done no work worth a prompt repeat.
SHORT_LIVED_S = 2.0
N_PROMPT_AFTER_SHORT = 2


@dataclass(frozen=True, slots=True)
class Pauses:
    """How long they are: `first_s`, then each twice as long as the one before, `most_s` at most."""

    first_s: float = 1.0
    most_s: float = 300.0

    def length_s(self, number: int) -> float:
        """The length of a pause by its number, from 1; 0 stands for none."""
        if number < 1:
            return 0.0
        # Beyond that every pause is the longest, and the power would only outgrow a float.
        return min(self.first_s * 2.0 ** min(number - 1, 64), self.most_s)


def count_short(n_before: int, running_at: float | None, failed_at: float) -> int:
    """Count short-lived attempts, or runs of a task, in a row, with one that has failed just now."""
    is_short = running_at is None or failed_at - running_at < SHORT_LIVED_S
    return n_before + 1 if is_short else 0
