"""Tests of the standard errors and intervals of tune."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cost_tables import passes, setting, table, timed

from draftproof.tune import Setting, Survey, ranked
from draftproof.tune.costs import PASSES, costs_of
from draftproof.tune.ranking import seconds_of
from draftproof.tune.settings import StepSize

TREES = ((1, 2, 3), 0.5), ((2, 2, 2), 0.2), ((2, 3, 3), 0.2), ((3, 3, 3), 0.1)
MERGED = replace(setting("ladder_block", 3, 3, 3.0), distinct=TREES, all_accepted=0.3)
SEPARATE = replace(MERGED, distinct=())
CHAIN = replace(setting("block", 1, 3, 3.0), all_accepted=0.3)
SIZES = tuple(StepSize(*one) for one in ((1, 0, 0, 0.25), (2, 1, 1, 0.25), (3, 2, 2, 0.3), (3, 3, 3, 0.2)))
CHOSEN = replace(setting("block", 1, 3, 2.0), policy="row_maximum", sizes=SIZES, steps=10**24)
VERIFIERS = {"ladder_block": timed([(6, 3, 0.003), (12, 3, 0.004)]), "block": timed([(2, 1, 0.001), (8, 1, 0.004)])}


def document(batch: int, **more: Any) -> dict[str, Any]:
    """Returns a table of which every entry has a standard error."""
    both = {
        "target_pass": passes((1, 0.040), (4, 0.048), (13, 0.056), batch=batch),
        "draft_pass": passes((1, 0.004), (4, 0.010), batch=batch),
    }
    verifiers = copy.deepcopy(VERIFIERS)
    for entry in (entry for entries in verifiers.values() for entry in entries):
        entry["standard_error"] = entry["seconds"] / 10
    return table(**both, verifiers=verifiers, **more)


def redrawn(known: dict[str, Any], draws: np.random.Generator) -> dict[str, Any]:
    """Returns the table of another run of the measurement: every entry is drawn again, independently."""
    again = copy.deepcopy(known)
    for entries in (*(again[name] for name in PASSES), *again["verifiers"].values()):
        for entry in entries:
            entry["seconds"] += draws.normal() * entry["standard_error"]
    return again


@pytest.mark.parametrize(
    ("one", "batch", "more"),
    [
        (MERGED, 1, {"equal_prefixes": "merged"}),
        (SEPARATE, 1, {}),
        (CHAIN, 1, {}),
        (CHAIN, 3, {}),
        (CHAIN, 3, {"different_lengths": "packed"}),
        (CHOSEN, 1, {}),
        (replace(CHOSEN, requests=2), 2, {"different_lengths": "packed"}),
    ],
)
def test_the_standard_error_is_the_spread_over_tables_that_are_measured_again(
    one: Setting, batch: int, more: dict[str, Any]
) -> None:
    """Times that are interpolated between the same entries err together. With 4,000 tables the spread has a standard
    error of 1.1 %."""
    known, draws = document(batch, **more), np.random.default_rng(7)
    times = [seconds_of(one, costs_of(redrawn(known, draws)), 512, batch, 128).value for _ in range(4000)]
    found = seconds_of(one, costs_of(known), 512, batch, 128)
    assert np.mean(times) == pytest.approx(found.value, rel=0.01)
    assert found.error == pytest.approx(np.std(times), rel=0.05)


def test_entries_of_equal_figures_are_two_measurements() -> None:
    """The draft's pass over the last two tokens and the target's over two may take equally long, but they err
    independently."""
    costs = costs_of(table(**{name: passes((1, 0.03), (2, 0.04)) for name in PASSES}))
    found = seconds_of(replace(setting("block", 1, 1, 2.0), all_accepted=1.0), costs, 512, 1, 128)
    assert found.value == pytest.approx(0.08) and found.error == pytest.approx(math.hypot(0.0004, 0.0004))


def test_a_setting_beats_plain_decoding_if_the_fastest_has_a_wide_interval() -> None:
    """The fastest setting has the interval 14 to 190 tokens per second, plain decoding 24.5 to 25.5, and a slower
    setting more than 25.5."""
    chain, costs = setting("block", 1, 4, 3.0), costs_of(table())

    def found(*settings: Setting) -> Any:
        return ranked(Survey("x", 512, settings, False, {}), costs, batch=1, context=128, default=("", 1, None))

    wide, narrow = replace(chain, tokens=3.3, error=2.2), replace(chain, tokens=1.8)
    both, alone = found(wide, narrow), found(wide)
    assert both.best.low < both.plain.high < both.choices[1].low
    assert both.beats_plain and "no setting is faster" not in both.text()
    assert not alone.beats_plain and "no setting is faster than plain decoding" in alone.text()
