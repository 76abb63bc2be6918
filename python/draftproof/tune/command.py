"""Tokens per second of every lossless setting, from captured rows and a table of costs."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from draftproof.files import with_metadata, writable, written
from draftproof.program import BAD_INPUT, PASSED, UNDECIDED, Parser, ProgramError, ProgramNotFound, say, short
from draftproof.results import for_plots
from draftproof.tune.costs import HARDWARE, CostError, Costs, OutOfTable, derived_costs, parse_hardware, read_costs
from draftproof.tune.policies import FEWEST_BATCHES, check_policies, with_policies
from draftproof.tune.ranking import Tuned, ranked
from draftproof.tune.settings import Survey, survey

NO_POLICIES = ["none"]


def run_command(arguments: Sequence[str]) -> int:
    """Runs a command line. Exit codes: 0 done, 2 usage or bad input, 3 stopped."""
    try:
        given = _parser().parse_args(arguments)
        return _run(given)
    except SystemExit as ended:
        return int(ended.code or 0)
    except ProgramError as error:
        say("draftproof tune", error.message)
        return error.exit_code if error.exit_code > 0 else BAD_INPUT
    except (CostError, OutOfTable, OSError, ProgramNotFound) as error:
        say("draftproof tune", error)
        return BAD_INPUT
    except KeyboardInterrupt:
        say("draftproof tune", "stopped")
        return UNDECIDED


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="draftproof tune", description=__doc__)
    parser.add_argument(
        "capture", nargs="?", help="captured trees or positions, or a generated family: docs/captures.md"
    )
    table = parser.add_mutually_exclusive_group(required=True)
    table.add_argument("--costs", type=Path, metavar="FILE", help="a table of costs in JSON: docs/tune.md")
    table.add_argument("--hardware", metavar="KEY=NUMBER,..",
                       help=f"derive the table from {', '.join(HARDWARE)}: docs/tune.md")  # fmt: skip
    parser.add_argument("--write-costs", type=Path, metavar="FILE", help="write the table that --hardware gives")
    parser.add_argument("-K", "--paths", type=_counts, metavar="N,..", help="numbers of paths, or drafts at a position")
    parser.add_argument("-L", "--lengths", type=_counts, metavar="N,..", help="numbers of drafted tokens of a path")
    parser.add_argument("--batch", type=_counts, metavar="N,..", help="batch sizes [all of the table]")
    parser.add_argument("--context", type=int, metavar="N", help="a context length of the table [its smallest]")
    parser.add_argument("--default", metavar="VERIFIER[:K[:L]]",
                        help="setting of the engine now [a chain of single drafts at its fastest length]")  # fmt: skip
    parser.add_argument("--verifier", type=_names, metavar="NAME,..", help="only these verifiers")
    parser.add_argument("--policy", type=_names, metavar="NAME,..",
                        help="only these selection policies, or none: docs/selection.md [all]")  # fmt: skip
    parser.add_argument(
        "--samples", type=int, default=8192, help="steps, or draft tuples, to simulate for each setting (8192)"
    )
    parser.add_argument("--vocabulary", type=int, metavar="V", help="vocabulary of the timed verifiers [the capture's]")
    parser.add_argument("--confidence", type=float, default=0.95, help="confidence level of the intervals (0.95)")
    parser.add_argument("--best", type=int, default=5, metavar="N", help="number of settings to print (5)")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random numbers (1)")
    parser.add_argument("--proposal", metavar="NAME", help="name of a proposal in the capture")
    for name in ("target", "proposal"):
        parser.add_argument(f"--{name}-temperature", metavar="T", help=f"temperature of the {name} [1]")
    parser.add_argument("--positions", metavar="A:B", help="use positions A to B - 1 of the capture, from 0")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a plot, which needs matplotlib")
    return parser


def _counts(text: str) -> list[int]:
    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not values or min(values) < 1:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected integers of at least 1 with commas between them")
    return list(dict.fromkeys(values))


def _names(text: str) -> list[str]:
    names = text.split(",")
    if "" in names:
        raise argparse.ArgumentTypeError(f"got {short(text)}, expected names with commas between them, none empty")
    return names


def _run(given: argparse.Namespace) -> int:
    if not 0 < given.confidence < 1:
        raise CostError(f"--confidence: got {given.confidence}, expected a level between 0 and 1")
    if given.samples < FEWEST_BATCHES:
        wanted = f"at least {FEWEST_BATCHES}, from which standard errors are estimated"
        raise CostError(f"--samples: got {given.samples}, expected {wanted}")
    if given.best < 1:
        raise CostError(f"--best: got {given.best}, expected at least 1")
    if given.vocabulary is not None and given.vocabulary < 1:
        raise CostError(f"--vocabulary: got {given.vocabulary}, expected at least 1")
    for output in filter(None, (given.write_costs, given.plot)):
        writable(output, (*with_metadata(given.capture and Path(given.capture)), given.costs))
    pyplot = _pyplot(given.plot) if given.plot else None
    costs = _costs(given)
    if given.write_costs:
        with written(given.write_costs, "w") as file:
            json.dump(costs.document, file, indent=1)
            file.write("\n")
    if given.capture is None:
        if given.write_costs:
            return PASSED
        raise CostError("capture: got nothing, expected a file of captured rows or a family")
    places = _places(given, costs)
    if given.policy and given.policy != NO_POLICIES:
        check_policies(given.policy)
    found = survey(
        given.capture,
        given.paths,
        given.lengths,
        samples=given.samples,
        options=_options(given),
        verifiers=given.verifier or (),
    )
    if given.vocabulary is not None:
        found = replace(found, vocabulary=given.vocabulary)
    if not found.vocabulary and costs.verifiers:
        raise CostError(f"{given.capture}: got no metadata with the vocabulary, expected --vocabulary")
    default = _default(given.default, found)
    tuned = []
    for batch, context in places:
        surveyed = _with_policies(given, found, costs, batch, context)
        found = replace(found, left_out={**found.left_out, **surveyed.left_out})
        tuned.append(
            ranked(surveyed, costs, batch=batch, context=context, default=default, confidence=given.confidence)
        )
    chosen = {choice.setting.policy for one in tuned for choice in one.choices if choice.setting}
    # A policy may be left out at one batch size and ranked at another.
    found = replace(found, left_out={name: reason for name, reason in found.left_out.items() if name not in chosen})
    if given.plot:
        _plot(pyplot, tuned, given.plot)
    print(
        json.dumps(_document(found, costs, tuned, given.default), indent=1)
        if given.json
        else _text(found, costs, tuned, given.default, given.best)
    )
    return PASSED


def _with_policies(given: argparse.Namespace, found: Survey, costs: Costs, batch: int, context: int) -> Survey:
    """Returns the survey with the settings of selection policies, which choose drafts of one path."""
    if given.policy == NO_POLICIES or not found.settings:
        return found
    if given.paths and 1 not in given.paths:
        reason = {"selection policies": "they choose drafts of one path, -K 1"} if given.policy else {}
        return replace(found, left_out={**found.left_out, **reason})
    return with_policies(
        found,
        costs,
        batch=batch,
        context=context,
        lengths=given.lengths,
        samples=given.samples,
        options=_options(given),
        verifiers=given.verifier or (),
        policies=given.policy or (),
    )


def _costs(given: argparse.Namespace) -> Costs:
    if given.costs:
        if given.write_costs:
            raise CostError("--write-costs: got --costs, expected --hardware")
        return read_costs(given.costs)
    context = 0 if given.context is None else given.context
    return derived_costs(parse_hardware(given.hardware), batches=given.batch or (1,), context=context)


def _places(given: argparse.Namespace, costs: Costs) -> list[tuple[int, int]]:
    """Returns batch sizes with the context length of each. Raises: OutOfTable if the table has no such timings."""
    known = costs.batches()
    if not known:
        raise OutOfTable("costs: got no batch size and context of which both passes were timed, expected at least one")
    places = []
    for batch in given.batch or known:
        contexts = costs.contexts(batch)
        if not contexts:
            wanted = f"one of {', '.join(map(str, known))}, of which both passes were timed"
            raise OutOfTable(f"--batch: got {batch}, expected {wanted}")
        if given.context is not None and given.context not in contexts:
            raise OutOfTable(
                f"--context: got {given.context}, expected one of {', '.join(map(str, contexts))}, which were timed at "
                f"batch {batch}"
            )
        places.append((batch, contexts[0] if given.context is None else given.context))
    return places


def _options(given: argparse.Namespace) -> list[str]:
    options = ["--seed", str(given.seed)]
    for name in ("proposal", "target_temperature", "proposal_temperature", "positions"):
        if (value := getattr(given, name)) is not None:
            options += [f"--{name.replace('_', '-')}", value]
    return options


def _default(text: str | None, found: Survey) -> tuple[str, int, int | None]:
    names = {one.verifier for one in found.settings}
    if text is None:
        return next((name for name in ("token_path", "single_draft") if name in names), ""), 1, None
    name, *numbers = text.split(":")
    try:
        values = [int(number) for number in numbers]
    except ValueError:
        values = [0]
    if name not in names or len(values) > 2 or min(values, default=1) < 1:
        raise CostError(f"--default: got {text!r}, expected VERIFIER[:K[:L]] with one of {', '.join(sorted(names))}")
    paths, length = values[0] if values else 1, values[1] if len(values) > 1 else None
    of_verifier = sorted({(one.paths, one.length) for one in found.settings if one.verifier == name})
    if not any(one[0] == paths and length in (None, one[1]) for one in of_verifier):
        wanted = f"{name} with one of {', '.join(f'{k}:{n}' for k, n in of_verifier)}"
        raise CostError(f"--default: got {text!r}, expected {wanted}")
    return name, paths, length


def _notes(found: Survey, costs: Costs, tuned: Sequence[Tuned], default: str | None) -> list[str]:
    steps = (
        "intervals of captured trees include which contexts and paths were captured; intervals of policies and of "
        "single positions include the simulated steps alone"
    )
    timings = "all include the timings" if costs.has_errors() else "not the timings, whose standard errors are 0"
    notes = [f"{steps}; {timings}"]
    if default is not None:
        batches = [str(one.batch) for one in tuned if one.default is None]
        notes += [f"the default {default} has no time at batch {', '.join(batches)}"] if batches else []
    if found.approximate:
        notes.append(
            "the capture has single positions: tokens of L > 1 are sums of powers of their rates, an approximation"
        )
    if found.truncated:
        notes.append("the capture is truncated: its rest counts as one token, so that tokens per step are too high")
    if any(one.setting and one.setting.policy for ranking in tuned for one in ranking.choices):
        notes.append(
            "policies read the largest entry of a row of q as its confidence; their own time counts as 0, and so does "
            "the second token of a first draft pass"
        )
    if not costs.verifiers:
        notes.append("the table has no times of verifiers: they count as 0")
    return notes


def _text(found: Survey, costs: Costs, tuned: Sequence[Tuned], default: str | None, best: int) -> str:
    lines = [f"{found.source}: target {costs.target or '?'}, draft {costs.draft or '?'}, {costs.device or '?'}"]
    lines += [one.text(best) for one in tuned]
    lines += [f"left out: {name}: {reason}" for name, reason in found.left_out.items()]
    return "\n".join([*lines, *(f"note: {note}" for note in _notes(found, costs, tuned, default))])


def _document(found: Survey, costs: Costs, tuned: Sequence[Tuned], default: str | None) -> dict[str, Any]:
    return {
        "schema": "draftproof.tune/1",
        "source": found.source,
        "vocabulary": found.vocabulary,
        "costs": {"target": costs.target, "draft": costs.draft, "device": costs.device},
        "approximate": found.approximate,
        "notes": _notes(found, costs, tuned, default),
        "left_out": found.left_out,
        "batches": [
            {
                "batch": one.batch,
                "context": one.context,
                "beats_plain": one.beats_plain,
                "tied": one.tied,
                "plain": one.plain.record(),
                "default": None if one.default is None else one.default.record(),
                "loss_of_default": one.loss_of_default(),
                "settings": [choice.record() for choice in one.choices],
                "refused": one.refused,
            }
            for one in tuned
        ],
    }


def _pyplot(path: Path) -> Any:
    """Returns matplotlib.pyplot. Raises: CostError if it is not installed, or does not write the format of `path`."""
    try:
        pyplot = for_plots("--plot", "matplotlib.pyplot")
    except ImportError as error:
        raise CostError(str(error)) from error
    known = for_plots("--plot", "matplotlib.backend_bases").FigureCanvasBase.get_supported_filetypes()
    if _format(path) not in known:
        raise CostError(f"--plot: got {short(path.name)}, expected a name that ends in {', '.join(sorted(known))}")
    return pyplot


def _format(path: Path) -> str:
    return path.suffix.lstrip(".").lower() or "png"


def _plot(pyplot: Any, tuned: Sequence[Tuned], path: Path) -> None:
    columns = math.ceil(math.sqrt(len(tuned)))
    figure, axes = pyplot.subplots(
        math.ceil(len(tuned) / columns),
        columns,
        squeeze=False,
        figsize=(6 * columns, 4.5 * math.ceil(len(tuned) / columns)),
    )
    for one, place in zip(tuned, axes.flat, strict=False):
        one.plot(place)
    with written(path) as file:
        figure.savefig(file, format=_format(path), bbox_inches="tight")
    pyplot.close(figure)
