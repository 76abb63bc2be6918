"""The loop of speculative decoding for one text."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from .context import Context
from .drafters import Drafter, Proposal
from .settings import Shape
from .verify import draw, verify


@dataclass(frozen=True)
class Call:
    """One call of the verifier: the drafts, the target's rows at the emitted tokens, and how many were accepted."""

    made: Proposal
    p: Tensor
    emitted: list[int]
    accepted: int


@dataclass
class Decoded:
    """The text of one run of the loop and its counts. The passes over the prompt are not in the seconds.

    calls: kept on request only, because they hold rows.
    """

    emitted: list[int] = field(default_factory=list)
    accepted: int = 0
    drafted: int = 0
    steps: int = 0
    seconds: float = 0.0
    seconds_of: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("draft", "target", "verify"), 0.0))
    calls: list[Call] = field(default_factory=list)


class Clock:
    """Measures the parts of a step: each call adds the time since the last call to one part."""

    def __init__(self, done: Decoded, now: Callable[[], float]) -> None:
        self._done, self._now = done, now
        self._start = self._last = now()

    def add(self, part: str) -> None:
        now = self._now()
        self._done.seconds_of[part] += now - self._last
        self._last = now

    def skip(self) -> None:
        """Excludes the time since the last call from the parts and from the total."""
        now = self._now()
        self._start += now - self._last
        self._last = now

    def end(self) -> None:
        self._done.seconds = self._last - self._start


def decode_text(
    target: Context,
    drafter: Drafter | None,
    shape: Shape | None,
    verifier: str,
    prompt: Sequence[int],
    count: int,
    generator: torch.Generator,
    keep: bool = False,
    now: Callable[[], float] = time.perf_counter,
) -> Decoded:
    """Continues a prompt by at least `count` tokens. A token that ends a text does not stop the loop.

    drafter: None decodes without drafts: one pass of the target and one draw for each token.
    keep: whether to keep the calls; the time to store them is not counted.
    now: the clock.
    """
    text, done = list(prompt), Decoded()
    if len(text) > 1:
        target.feed(text[:-1])
        target.commit(range(len(text) - 1))
        if drafter is not None:
            drafter.root(text[:-1])
    clock = Clock(done, now)
    while len(done.emitted) < count:
        made = Proposal() if drafter is None or shape is None else drafter.propose(text, shape, generator)
        clock.add("draft")
        # The last token of the text is fed with the drafts: the row after it is the target's row at the text's end.
        p = target.feed([text[-1], *made.tokens], [-1, *(parent + 1 for parent in made.parents)])
        clock.add("target")
        emitted, path = decide(target, drafter, verifier, made, p, generator)
        text += emitted
        done.emitted += emitted
        done.accepted += len(path)
        done.drafted += len(made.tokens)
        done.steps += 1
        clock.add("verify")
        if keep:
            done.calls.append(Call(made, p[[0, *(node + 1 for node in path)]], emitted, len(path)))
            clock.skip()
    clock.end()
    return done


def decide(
    target: Context, drafter: Drafter | None, verifier: str, made: Proposal, p: Tensor, generator: torch.Generator
) -> tuple[list[int], list[int]]:
    """Runs the verifier, or draws a token if there is no drafter, and then updates the caches of target and drafter.

    Returns: the emitted tokens and the accepted nodes.
    """
    if drafter is None:
        emitted, path = draw(p[0], generator), list[int]()
    else:
        emitted, path = verify(verifier, made, p, generator)
    target.commit([0, *(node + 1 for node in path)])
    if drafter is not None:
        drafter.accepted(path)
    return emitted, path
