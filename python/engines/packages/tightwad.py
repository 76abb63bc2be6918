"""tightwad: the decision of its proxy on the drafts of one server and the tokens that the other server drew."""

from __future__ import annotations

import math
import random
from typing import Any

from draftproof.declare import adapter
from draftproof.engines import Engine, judged


def verify_stochastic() -> Any:
    from tightwad.speculation import DraftToken, TargetLogprob, verify_stochastic

    def log(x: float) -> float:
        return math.log(x) if x else -math.inf

    def tightwad_verify(p: Any, q: Any, drafts: Any) -> Any:
        target = []
        for i, row in enumerate(p):
            own = random.choices(range(len(row)), row)[0]  # the target's server draws a token at each position
            likely = None if i == len(drafts) else log(row[drafts[i]])
            target.append(TargetLogprob(own, log(row[own]), likely))
        given = [DraftToken(int(x), log(row[x])) for row, x in zip(q, drafts, strict=True)]
        decided = verify_stochastic(given, target)
        last = decided.resample_token or decided.bonus_token
        return [*(one.token_id for one in decided.accepted_tokens), last.token_id]

    return adapter(tightwad_verify, arrays="list", races=False)


CHANGE = "draw a rejected draft's replacement from (p - q)+, which needs both rows"
ENGINE = Engine(
    packages=("tightwad==0.5.4",),
    replaces="the two servers by rows of probabilities; the target's rows are the rows after the drafts",
    adapters=(judged("verify_stochastic", verify_stochastic, change=CHANGE),),
)
