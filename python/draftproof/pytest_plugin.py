"""The pytest plug-in: one test for each tier of a verifier, one false-alarm budget for the whole test run.

    test_mine = draftproof.gates(mine, drafts="iid")

    def test_length(draftproof_acceptance):
        draftproof_acceptance(mine, (p, q), at_least=2.6)

Nothing but the standard library and pytest is imported before a gate runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from draftproof.results import Verdict

TIERS = ("proof", "edge", "sampled")
_MARKER = "draftproof"
_STATUSES = ("passed", "failed", "undecided", "skipped")


def gates(
    fn: Callable[..., Any] | None, drafts: str = "iid", *, tiers: Sequence[str] = TIERS, **options: Any
) -> Callable[..., None]:
    """Returns a test function with one case for each tier.

    fn, drafts  as in `check`
    tiers       the tiers, of proof, edge and sampled
    options     arguments of `draftproof.check` and `draftproof.adapter`, except `tier`

    p, q and drafts of fn have the shapes of `adapter`. A tier that fn does not support is skipped with the reason. In a
    class the test is an attribute `staticmethod(gates(fn))`, because it has no parameter `self`.

    Raises: ValueError for other tiers or none, TypeError for `tier`. The cases raise Refuted, an AssertionError, and
    the other errors of `check`.
    Cost: each case runs one tier of `check`.
    Source: docs/gate.md.
    """

    named = [tiers] if isinstance(tiers, str) or not isinstance(tiers, Iterable) else list(tiers)
    if wrong := [one for one in named if one not in TIERS]:
        raise ValueError(f"tiers: got {wrong[0]!r:.60}, expected some of {', '.join(TIERS)}")
    if not named:
        raise ValueError(f"tiers: got none, expected some of {', '.join(TIERS)}")
    if "tier" in options:
        raise TypeError("tier: got an argument of `check`, expected `tiers`, whose tests have one tier each")

    @pytest.mark.draftproof
    @pytest.mark.parametrize("tier", named)
    def gate(tier: str, request: pytest.FixtureRequest) -> None:
        """Runs one tier of the gate on a verifier."""
        __tracebackhide__ = True
        from draftproof.gate import check
        from draftproof.program import on_a_line
        from draftproof.results import Interrupted, Refuted
        from draftproof.subject import FunctionFailed

        try:
            verdict = check(fn, drafts, tier=tier, **options)
        except (Refuted, Interrupted) as stopped:
            _report(request.node, stopped.verdict)
            raise stopped.with_traceback(None) from None
        except Exception as failed:
            _record(
                request.node,
                {"gates": [{"verifier": name, "tier": tier, "status": "failed", "note": on_a_line(str(failed), 1000)}]},
            )
            if not isinstance(failed, FunctionFailed):
                raise
            cause = failed.__cause__
            raise failed.with_traceback(None) from cause and cause.with_traceback(_outside(cause.__traceback__))
        _report(request.node, verdict)
        if verdict.status == "skipped":
            pytest.skip("; ".join(one.note for one in verdict.tiers if one.note) or f"fn has no tier {tier}")
        if verdict.status != "passed":
            raise Refuted(verdict)

    functions = (fn, *(options.get(name) for name in ("draft", "step", "generate", "select")))
    judged = next((one for one in functions if one is not None), None)
    name = str(options.get("name") or getattr(judged, "__name__", judged))
    gate.__doc__ = f"{name} at each tier of the gate."
    return gate


def _outside(frames: TracebackType | None) -> TracebackType | None:
    """Returns the frames from the first on that is not of this package."""
    while frames is not None and os.path.dirname(frames.tb_frame.f_code.co_filename) == os.path.dirname(__file__):
        frames = frames.tb_next
    return frames


@pytest.fixture
def draftproof_acceptance(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Returns a function that calls `draftproof.acceptance`. If the mean is below `at_least`, the test fails with both
    numbers; the report of the test has the rates."""

    def measured(fn: Any, rows: Any, *arguments: Any, at_least: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        from draftproof import acceptance, gate

        named.setdefault("seed", gate.DEFAULTS["seed"])
        found = acceptance(fn, rows, *arguments, at_least=at_least, **named)  # type: ignore[operator]
        request.node.add_report_section("call", "draftproof", str(found))
        return found

    return measured


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("draftproof", "verifiers of speculative decoding")
    group.addoption(
        "--draftproof-profile", choices=["quick", "pr", "nightly"], help="number of models and trials of a gate [quick]"
    )
    group.addoption("--draftproof-seed", type=int, metavar="N", help="seed of everything random (1)")
    group.addoption(
        "--draftproof-budget", type=float, metavar="SHARE",
        help="share of the false-alarm probability of 1e-9 that this run may spend (1); its sampled gates divide it",
    )  # fmt: skip
    group.addoption("--draftproof-page", metavar="FILE", help="write the verdicts of all gates to this HTML page")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{_MARKER}: a gate of draftproof.gates")
    budget, seed, page = (config.getoption(f"--draftproof-{name}") for name in ("budget", "seed", "page"))
    if budget is not None and not 0 < budget <= 1:
        raise pytest.UsageError(f"--draftproof-budget: got {budget:g}, expected more than 0 and at most 1")
    if seed is not None and not 0 <= seed < 2**64:
        raise pytest.UsageError(f"--draftproof-seed: got {seed}, expected 0 to 2^64 - 1")
    if page is not None and not hasattr(config, "workerinput"):  # a worker of pytest-xdist writes no page
        try:
            os.makedirs(os.path.dirname(page) or ".", exist_ok=True)
        except OSError as error:
            raise pytest.UsageError(f"--draftproof-page: {error}") from None
        if not page or os.path.isdir(page):
            raise pytest.UsageError(f"--draftproof-page: got {page!r}, expected the name of a file")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Divides the false-alarm budget by the number of sampled gates. Every worker of pytest-xdist collects all tests,
    so all workers divide by the same number."""
    sampled = sum(1 for item in items if item.get_closest_marker(_MARKER) and _tier(item) == "sampled")
    if not any(item.get_closest_marker(_MARKER) for item in items) and not _options(config):
        return
    from draftproof import gate

    gate.DEFAULTS.update(_options(config), gates=max(1, sampled))


def _tier(item: pytest.Item) -> Any:
    return getattr(getattr(item, "callspec", None), "params", {}).get("tier")


def _options(config: pytest.Config) -> dict[str, Any]:
    names = {"profile": "profile", "seed": "seed", "budget": "share"}
    found = {key: config.getoption(f"--draftproof-{name}") for name, key in names.items()}
    return {key: value for key, value in found.items() if value is not None}


def _report(item: pytest.Item, verdict: Verdict) -> None:
    if verdict.status in ("passed", "skipped"):  # The exception shows all other verdicts.
        item.add_report_section("call", "draftproof", str(verdict))
    _record(item, verdict.document)


def _record(item: pytest.Item, document: dict[str, Any]) -> None:
    item.user_properties.append((_MARKER, json.dumps(document)))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    documents, expected = [], 0
    for outcome, reports in terminalreporter.stats.items():
        for report in reports:
            if getattr(report, "when", "") != "call":
                continue
            values = [value for key, value in getattr(report, "user_properties", ()) if key == _MARKER]
            found = [document for value in values if (document := _document(value)) is not None]
            documents += found
            expected += _failed(found) if outcome == "xfailed" else 0
    if not documents:
        return
    tiers = [one for document in documents for one in document.get("gates", ())]
    sampled = sum(1 for one in tiers if one["tier"] == "sampled")
    share = terminalreporter.config.getoption("--draftproof-budget") or 1.0
    counts = {status: sum(1 for one in tiers if one["status"] == status) for status in _STATUSES}
    counts["failed"] -= expected
    counts["failed as expected"] = expected
    statuses = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    budget = f"; {sampled} sampled gates share a false-alarm probability of {share * 1e-9:g}" if sampled else ""
    terminalreporter.write_line(f"draftproof: {len(tiers)} gates: {statuses}{budget}")
    if page := terminalreporter.config.getoption("--draftproof-page"):
        terminalreporter.write_line(f"draftproof: {_write_page(documents, page)}")


def _failed(documents: Sequence[dict[str, Any]]) -> int:
    return sum(1 for document in documents for one in document["gates"] if one["status"] == "failed")


def _document(value: Any) -> dict[str, Any] | None:
    """Returns the document in a property of a report; None for a property that a test recorded under this name."""
    try:
        document = json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) and isinstance(document.get("gates"), list) else None


def _write_page(documents: Sequence[dict[str, Any]], page: str) -> str:
    """Writes one page of the gates in all documents of `draftproof check`. Returns: the page's name, or the reason why
    it was not written."""
    import subprocess
    import tempfile
    from pathlib import Path

    from draftproof.program import ProgramNotFound, find

    # Checks whose function raised, and some that ended at their time limit, have gates alone.
    whole = next((document for document in documents if "schema" in document), {"schema": "draftproof.check/3"})
    gates = [gate for document in documents for gate in document["gates"]]
    with tempfile.TemporaryDirectory(prefix="draftproof-") as folder:
        result = Path(folder) / "gates.json"
        result.write_text(json.dumps({**whole, "gates": gates}), encoding="utf-8")
        try:
            command = [str(find()), "-q", "report", str(result), "--output", page]
            ended = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
        except (ProgramNotFound, OSError) as error:
            return f"{page}: {error}"
    return page if ended.returncode == 0 else ended.stderr.strip().removeprefix("draftproof: ")
