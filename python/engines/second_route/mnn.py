"""Counts tokens of MNN's texts by look-up with a penalty, with an EAGLE head and with an MTP head.

    python python/engines/second_route/mnn.py

In the engine's source, a token is drawn from the target's row and penalties count the tokens of `history_tokens`. The
loop without drafts appends a token to them at once. The loops with drafts append the tokens of a step after all of its
draws, and the first of them is the last token of the step before. EAGLE's loop compares drafts with the argmax of the
row.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections import Counter
from fractions import Fraction as F
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import numpy as np

from draftproof.engines import discover

ENGINE = discover()["mnn"]
ENGINE.enter()
ADAPTER = sys.modules["draftproof_engine_mnn"]


def penalty(texts: int = 4000) -> None:
    """All rows are (1 1)/2, the prompt is 0 0, and a presence penalty log 3 divides p(x) by 3 if x is in the text."""

    def row(counted: set[int]) -> list[F]:
        weights = [F(1, 3 if token in counted else 1) for token in range(2)]
        return [weight / sum(weights) for weight in weights]

    pairs = [(x, y) for x in range(2) for y in range(2)]
    exact = [row({0})[x] * row({0, x})[y] for x, y in pairs]
    late = [row({0})[x] * row({0})[y] for x, y in pairs]
    print("texts", *pairs, "expected", *exact, "by the rule of look-up", *late)
    given = {"mixed_samplers": ["penalty", "temperature"], "presence_penalty": math.log(3)}
    for name, options in (("look-up", ADAPTER.LOOKAHEAD), ("no drafts", {})):
        with tempfile.TemporaryDirectory() as folder:
            model = ADAPTER.loaded(Path(folder), np.full((2, 2), 0.5), **given, **options)
            seen = Counter(tuple(ADAPTER.written(model, 2)[:2]) for _ in range(texts))
            rows = np.array([[2, 1], [2, 1]]) / 3
            greedy = ADAPTER.loaded(Path(folder), rows, **given | {"mixed_samplers": ["penalty", "greedy"]}, **options)
            print(f"  {name}: greedy text on rows (2 1)/3, expected [1, 0, 0]:", ADAPTER.written(greedy, 3)[:3])
        print(f"  {name}: counted", [round(seen[pair] / texts, 4) for pair in pairs], f"in {texts} texts")


def heads(length: int = 4000) -> None:
    rows = np.array([[2, 1], [2, 1]]) / 3
    for head, save in (("eagle", ADAPTER.save_eagle), ("mtp", ADAPTER.save_mtp)):
        with tempfile.TemporaryDirectory() as folder:
            save(Path(folder), rows)
            model = ADAPTER.loaded(Path(folder), rows, **ADAPTER.HEADS, speculative_type=head)
            text = ADAPTER.written(model, length)
        print(f"rows (2 1)/3, {head}: begins with {text[:4]}, ends with {text[-2:]},", end=" ")
        print(f"token 1 in {text[:length].count(1) / length:.4f} of {length} tokens, expected .3333")


if __name__ == "__main__":
    penalty()
    heads()
