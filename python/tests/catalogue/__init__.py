"""A catalogue of verifiers, with the verdict that the gate must give on each of them.

wrong_chains, wrong_drafts, wrong_batches    wrong in one line
wrong_calls                                  written, called or declared wrongly
right                                        right verifiers in styles that `written` does not have
written                                      right verifiers composed of parts by a seed
without_torch                                wrong and right verifiers in numpy and plain Python
run                                          judges all of them in processes: python python/tests/catalogue/run.py wrong

    chain       fn(p [L + 1, V], q [L, V], drafts [L]) -> tokens
    position    fn(p [V], q [V], drafts [K]) -> token
    tree        fn(p [n + 1, V], q [n, V], drafts [n], parents [n]) -> tokens
    batched     the same with a leading axis B; rows of drafts and of tokens are padded with -1
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import draftproof
from catalogue.written import covering

Function = Callable[..., Any]
OF_TORCH = "wrong_chains", "wrong_drafts", "wrong_batches", "wrong_calls", "right"
EDGE = {"row_alone", "independent_rows", "slots_permuted", "neighbours", "repetition", "number_grid"}
FEW: dict[str, Any] = {"tier": ("proof", "edge"), "models": 6, "predictions": 32}
_found: dict[str, Entry] = {}


@dataclass(frozen=True)
class Entry:
    """A function as a user declares it, and facts about it.

    status    the verdict, or several with | between them; `error` if check itself raises
    check     the check whose finding has this status; empty for any
    words     a regular expression that the text of the verdict or of the exception matches
    one_line  whether the function is right or differs from a right function in one line; `exact` then computes its
              distribution
    why       one sentence: why it is wrong, or which style it shows
    on        the smallest instance found by hand that shows the bug; empty if it depends on other rows of a batch or on
              earlier calls
    gap       why the gate's verdict differs from `status`; empty for nearly all
    sampled   number of trials by which `exact` estimates its distribution, if the noise of a race or generators that it
              seeds give it too many branches; else 0
    state     whether it keeps a state from call to call
    declared  level, drafts, batched, logits, arrays and other arguments of draftproof.check
    """

    name: str
    fn: Function
    status: str
    check: str = ""
    words: str = ""
    one_line: bool = False
    why: str = ""
    on: str = ""
    gap: str = ""
    sampled: int = 0
    state: bool = False
    declared: dict[str, Any] = field(default_factory=dict)

    @property
    def level(self) -> str:
        return self.declared.get("level", "chain")

    @property
    def drafts(self) -> str:
        return self.declared.get("drafts", "iid")

    @property
    def batched(self) -> bool:
        return self.declared.get("batched", False)


def enter(status: str, check: str = "", words: str = "", *, name: str = "", **known: Any) -> Callable[[Any], Any]:
    """Adds a function to the catalogue. Arguments that are not fields of Entry are the function's declaration."""

    def entered(fn: Any) -> Any:
        own = {key: known[key] for key in ("one_line", "why", "on", "gap", "sampled", "state") if key in known}
        declared = {"arrays": "torch"} | {key: value for key, value in known.items() if key not in own}
        label = name or fn.__name__
        if fn.__name__ == "fn":
            fn.__name__ = label
        assert label not in _found, f"{label}: entered twice"
        _found[label] = Entry(label, fn, status, check, words, **own, declared=declared)
        return fn

    return entered


def wrong(why: str, check: str = "exact_distribution", on: str = "", *, status: str = "failed", **known: Any) -> Any:
    """Adds a function that differs from a right function in one line."""
    return enter(status, check, one_line=True, why=why, on=on, **known)


def right(why: str, **known: Any) -> Any:
    """Adds a right function."""
    return enter("passed", one_line=True, why=why, **known)


@cache
def torch_there() -> bool:
    return importlib.util.find_spec("torch") is not None


@cache
def _imported() -> None:
    for module in ("without_torch", *(OF_TORCH if torch_there() else ())):
        importlib.import_module(f"catalogue.{module}")


def entries(*, wrong: bool) -> list[Entry]:
    """Returns, sorted by name, all entries that are not right functions if `wrong`, otherwise all right functions. The
    right functions include functions that `written` composes, which together use all its parts."""
    _imported()
    some = [entry for entry in _found.values() if (entry.status != "passed" or not entry.one_line) == wrong]
    by_seed = [] if wrong else covering(("torch", "numpy", "list") if torch_there() else ("numpy", "list"))
    for n, one in enumerate(by_seed):
        # A function that draws numbers it may not need has too many outcomes on two drafts, so it gets one draft.
        declared = one.declared | ({"most_drafts": 1} if "last = [pick" in one.text else {})
        name = f"{one.style} {n}".replace(" ", "_")
        some.append(Entry(name, one.fn, "passed", one_line=True, why=one.text, declared=declared))
    return sorted(some, key=lambda entry: entry.name)


def judge(entry: Entry, **changes: Any) -> tuple[str, Any]:
    """Returns the text of the verdict if the verdict is not as expected, otherwise "", and the verdict itself.

    A function that is wrong in one line is judged on four models and, if they do not refute it, on the 20 models of the
    profile. The four are the first of the 20, so the 20 also refute every function that the four refute.
    """
    if not entry.declared.get("scripted", True):
        tries: list[dict[str, Any]] = [{}]
    elif not entry.one_line:
        tries = [FEW]
    elif entry.status == "passed":
        tries = [{"profile": "quick", "tier": ("proof", "edge"), "models": 9}]  # model 9 has rows next to p = q
    else:
        tier = "edge" if entry.check in EDGE else "proof"
        tries = [{"profile": "quick", "tier": tier, "models": models} for models in (4, 20)]
    said, verdict = "", None
    for few in tries:
        said, verdict = _judged(entry, {"raises": False, "keep": False, **few, **entry.declared, **changes})
        if not said:
            break
    return said, verdict


def _judged(entry: Entry, asked: dict[str, Any]) -> tuple[str, Any]:
    verdict = None
    try:
        verdict = draftproof.check(entry.fn, **asked)
        status, said = verdict.status, str(verdict)
        found = {finding.check for finding in verdict.findings if finding.status == status}
    except Exception as error:
        status, said, found = "error", f"{type(error).__name__}: {error}", set()
    good = status in entry.status.split("|") and (not entry.check or entry.check in found)
    own_name = getattr(entry.fn, "__name__", "")  # the name is in every text, and may match `words`
    if good and re.search(entry.words, said.replace(own_name, "it"), re.IGNORECASE):
        return "", verdict
    return f"{said}\n        WANTED {' '.join(filter(None, (entry.status, entry.check, entry.words)))}", verdict
