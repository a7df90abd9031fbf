"""Learn to write letter by letter, from the Zen of Python; now and then show what has been learned."""

from __future__ import annotations

import codecs
import contextlib
import io
import math
import random
import time

import footplate

STEPS, BATCH, RATE, PAUSE_S = 20_000, 48, 0.6, 0.3
LETTERS = "abcdefghijklmnopqrstuvwxyz "
END = len(LETTERS) - 1


def text() -> list[int]:
    """The Zen of Python as numbers of letters."""
    with contextlib.redirect_stdout(io.StringIO()):
        import this
    plain = codecs.decode(this.s, "rot13").lower()
    words = "".join(sign if sign in LETTERS else " " for sign in plain).split()
    return [LETTERS.index(sign) for sign in " ".join(words)]


class Model:
    """Says which letter comes next after the last two, by a weight for each pair that occurs."""

    def __init__(self) -> None:
        n = len(LETTERS)
        self._near = [[0.0] * n for _ in range(n)]
        self._far = [[0.0] * n for _ in range(n * n)]

    def chances(self, before: int, last: int) -> list[float]:
        near, far = self._near[last], self._far[before * len(LETTERS) + last]
        scores = [math.exp(a + b) for a, b in zip(near, far, strict=True)]
        total = sum(scores)
        return [score / total for score in scores]

    def learn(self, before: int, last: int, following: int) -> float:
        """Take one step towards the letter that really followed; return the loss before it, in bits."""
        chances = self.chances(before, last)
        near, far = self._near[last], self._far[before * len(LETTERS) + last]
        for letter, chance in enumerate(chances):
            slope = (letter == following) - chance
            near[letter] += RATE * 0.1 * slope
            far[letter] += RATE * slope
        return -math.log2(chances[following])

    def write(self, length: int, chance: random.Random) -> str:
        before, last, written = END, END, ""
        for _ in range(length):
            (letter,) = chance.choices(range(len(LETTERS)), self.chances(before, last))
            written += LETTERS[letter]
            before, last = last, letter
        return written


def main() -> None:
    chance, letters, model = random.Random(3), text(), Model()
    print(f"learning from {len(letters)} letters")
    mean = math.log2(len(LETTERS))
    for step in range(1, STEPS + 1):
        places = [chance.randrange(2, len(letters)) for _ in range(BATCH)]
        loss = sum(model.learn(letters[i - 2], letters[i - 1], letters[i]) for i in places) / BATCH
        mean = 0.95 * mean + 0.05 * loss
        footplate.log({"loss": mean}, step=step, total_steps=STEPS)
        if step % 5 == 0:
            print(f"step {step:5d}  loss {mean:.3f} bits per letter")
        if step % 50 == 0:
            print(f'it writes: "{model.write(60, chance).strip()}"')
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
