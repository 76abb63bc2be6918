"""dejavuu: the draw at a position of the text, determined by a seed and the position; a draft equal to it is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from draftproof.declare import adapter
from draftproof.engines import Engine, judged, module_of
from draftproof.keys import keyed


def pick() -> Any:
    sampling = module_of(ENGINE.root() / "dejavuu" / "core" / "sampling.py", "dp_dejavuu_sampling")

    def dejavuu_pick(p: Any, q: Any, key: int) -> int:
        with np.errstate(divide="ignore"):
            return sampling.pick(np.log(p), 17, sampling.Sampler(seed=key))

    return adapter(keyed(dejavuu_pick), level="position", arrays="numpy", name="dejavuu_pick")


# The running sum of p in float32 ends below 1, so a draw may reach the impossible last token.
INSTANCES = ("p=(5 6 1 1 5 6 2 3 0)/29 q=(0 0 0 0 0 0 0 0 1)/1 K=1", "p=(1 0)/1 q=(0 1)/1 K=1")
CHANGE = "multiply the uniform number by the last running sum"
NOTE = "over uniform seeds; the package is for Python 3.13 and later, this file also runs before"
ENGINE = Engine(
    packages=("dejavuu==0.2.0",),
    replaces="the loop that keeps drafts equal to the draws",
    adapters=(judged("pick", pick, instances=INSTANCES, change=CHANGE, note=NOTE),),
)
