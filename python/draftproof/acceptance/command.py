"""Converts accepted lengths, plans and judges measurements that show a loss, and prints settings of engines."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from draftproof.acceptance.engines import PRINTED, synthetic
from draftproof.acceptance.lengths import Lengths, pooled
from draftproof.acceptance.planning import Bound, between_steps, bound, check_error, steps_for
from draftproof.program import BAD_INPUT, FAILED, PASSED, UNDECIDED, Parser, say, short

T = TypeVar("T")
_MOST_DRAFTS = 4096


def run_command(arguments: Sequence[str]) -> int:
    """Runs a command line. Exit codes: 0 done or passed, 1 too few accepted, 2 usage or bad input, 3
    undecided."""
    try:
        given = _parser().parse_args(arguments)
        return int(given.run(given))
    except SystemExit as ended:
        return int(ended.code or 0)
    except (ValueError, OSError) as error:
        say("draftproof acceptance", error)
        return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="draftproof acceptance", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True, parser_class=Parser)

    def add_lengths(group: Any) -> None:
        group.add_argument("--marginal", type=_list(float), metavar="R1,R2,..",
                           help="P(at least i drafts are accepted), as vLLM prints it")  # fmt: skip
        group.add_argument("--conditional", type=_list(float), metavar="R1,R2,..",
                           help="P(draft i is accepted, given that all before it are)")  # fmt: skip
        group.add_argument("--counts", type=_list(int), metavar="N0,N1,..",
                           help="numbers of steps that accepted 0, 1, .. drafts")  # fmt: skip

    def verb(name: str, words: str, run: Callable[[argparse.Namespace], int], lengths: bool = True) -> Parser:
        one: Parser = verbs.add_parser(name, help=words, description=words)
        one.set_defaults(run=run)
        one.add_argument("--json", action="store_true", help="print JSON")
        if lengths:
            add_lengths(one.add_mutually_exclusive_group(required=True))
        return one

    convert = verb("convert", "converts rates and lengths into each other", _convert, lengths=False)
    group = convert.add_mutually_exclusive_group(required=True)
    add_lengths(group)
    group.add_argument("--with-bonus", type=float, metavar="MEAN",
                       help="mean tokens of a step, with the bonus; needs --drafts")  # fmt: skip
    group.add_argument("--without-bonus", type=float, metavar="MEAN",
                       help="mean accepted drafts of a step; needs --drafts")  # fmt: skip
    group.add_argument("--requests", type=_list(_request), metavar="ACCEPTED:CALLS,..",
                       help="accepted drafts and calls of the target of each request")  # fmt: skip
    convert.add_argument("--drafts", type=int, metavar="L", help="number of drafts of a step")
    for name, words, run in (
        ("prompts", "computes how many prompts are needed to show a loss, and the bound for their mean", _prompts),
        ("judge", "compares a measured mean with the bound for its number of steps", _judge),
    ):
        one = verb(name, words, run)
        one.add_argument("--loss", type=float, default=0.01, help="loss to detect, as a share of the mean (0.01)")
        one.add_argument("--false-alarm", type=float, default=1e-5,
                         help="probability that a rule without loss fails (1e-5)")  # fmt: skip
        one.add_argument("--between", type=float, default=0.0, metavar="DEVIATION",
                         help="standard deviation of the prompts' means; 0: always the same prompts (0)")  # fmt: skip
        one.add_argument("--steps-per-prompt", type=int, default=1, metavar="N",
                         help="calls of the target for a prompt (1)")  # fmt: skip
        one.add_argument("--miss", type=float, default=0.01,
                         help="largest probability that such a loss passes (0.01)")  # fmt: skip
        if name == "judge":
            one.add_argument("--steps", type=int, required=True, help="number of measured steps")
            one.add_argument("--got", type=float, required=True, metavar="MEAN", help="measured mean accepted drafts")
    verb("flags", "prints settings with which engines accept this many drafts without a test", _flags)
    return parser


def _list(kind: Callable[[str], T]) -> Callable[[str], list[T]]:
    def values(text: str) -> list[T]:
        found = []
        for part in text.split(","):
            try:
                found.append(kind(part.strip()))
            except ValueError:
                raise argparse.ArgumentTypeError(f"got {part!r} in {text!r}, expected {_wanted(kind)}") from None
        return found

    return values


def _wanted(kind: object) -> str:
    words: dict[object, str] = {float: "numbers", int: "counts"}
    return f"{words.get(kind, 'ACCEPTED:CALLS')} with commas between them"


def _request(text: str) -> tuple[int, int]:
    accepted, _, calls = text.partition(":")
    return int(accepted), int(calls)


def _lengths(given: argparse.Namespace) -> Lengths:
    if given.marginal is not None:
        return Lengths.of_marginal(given.marginal)
    if given.conditional is not None:
        return Lengths.of_conditional(given.conditional)
    return Lengths.of_counts(given.counts)


def _say(given: argparse.Namespace, document: dict[str, Any], text: str) -> None:
    print(json.dumps(document, indent=1) if given.json else text)


def _convert(given: argparse.Namespace) -> int:
    if given.drafts is not None and given.with_bonus is None and given.without_bonus is None:
        raise ValueError(
            f"--drafts: got {short(given.drafts)}, expected only together with --with-bonus or --without-bonus"
        )
    if given.requests is not None:
        found = pooled(given.requests)
        _say(given, vars(found) | {"requests": len(given.requests)}, "\n".join([
            f"pooled over all calls         {found.pooled:.6g} accepted drafts, {found.pooled + 1:.6g} with the bonus",
            f"mean of the requests' means   {found.mean_of_means:.6g} accepted drafts, "
            f"{found.mean_of_means + 1:.6g} with the bonus",
            "Engines print the pooled number; tokens per second follow it.",
        ]))  # fmt: skip
        return PASSED
    if given.with_bonus is None and given.without_bonus is None:
        lengths = _lengths(given)
        _say(given, lengths.document(), "\n".join([str(lengths), *(f"{k}: {v}" for k, v in PRINTED.items())]))
        return PASSED
    if given.drafts is None or not 1 <= given.drafts <= _MOST_DRAFTS:
        wanted = f"the number of drafts of a step, 1 to {_MOST_DRAFTS}"
        raise ValueError(f"--drafts: got {short(given.drafts)}, expected {wanted}")
    mean = given.without_bonus if given.with_bonus is None else given.with_bonus - 1
    if not 0 <= mean <= given.drafts:
        raise ValueError(
            f"mean: got {mean:g} accepted drafts, expected 0 to {given.drafts}, with the bonus 1 to {given.drafts + 1}"
        )
    whole = math.floor(mean)
    least = [1.0] * whole + [mean - whole] * (whole < given.drafts) + [0.0] * (given.drafts - whole - 1)
    equal = Lengths.of_conditional([_equal_rate(mean, given.drafts)] * given.drafts)
    _say(given, {
        "drafts": given.drafts, "mean_accepted": mean, "mean_with_bonus": mean + 1,
        "draft_acceptance_rate": mean / given.drafts, "marginal_if_least_variance": least,
        "marginal_if_equal_conditional": equal.document()["marginal"],
    }, "\n".join([
        f"accepted drafts of a step     {mean:.6g}",
        f"tokens of a step, with bonus  {mean + 1:.6g}",
        f"accepted drafts per draft     {mean / given.drafts:.6g}",
        "A mean does not determine the rates of each draft. Marginal rates with this mean:",
        f"  with the least variance     {'  '.join(f'{rate:.4f}' for rate in least)}",
        f"  with equal conditional rates  {'  '.join(f'{float(rate):.4f}' for rate in equal.marginal)}",
    ]))  # fmt: skip
    return PASSED


def _equal_rate(mean: float, drafts: int) -> float:
    """Returns the rate a with a + a^2 + .. + a^drafts = mean, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if sum(middle**i for i in range(1, drafts + 1)) < mean:
            low = middle
        else:
            high = middle
    return high


def _between(given: argparse.Namespace) -> float:
    return between_steps(given.between, given.steps_per_prompt)


def _prompts(given: argparse.Namespace) -> int:
    found = steps_for(
        _lengths(given),
        loss=given.loss,
        false_alarm=given.false_alarm,
        miss=given.miss,
        between=_between(given),
        steps_per_prompt=given.steps_per_prompt,
    )
    prompts = found.steps // given.steps_per_prompt
    _say(given, vars(found) | {"prompts": prompts}, "\n".join([
        f"prompts   {prompts:,} of {given.steps_per_prompt} steps",
        f"steps     {found.steps:,}",
        *_told(found),
    ]))  # fmt: skip
    return PASSED


def _told(found: Bound) -> list[str]:
    below = 100 * (1 - found.least / found.expected) if found.expected > 0 else 0.0
    how = "from the exact distribution of the sum" if found.exact else "by a normal approximation"
    return [
        f"expected  {found.expected:.6g} accepted drafts a step",
        f"bound     {found.least:.6g}: a smaller measured mean fails, {below:.3g} % below the expected one",
        f"errors    a rule without loss fails with probability {found.false_alarm:.2g}, a loss of "
        f"{100 * found.loss:g} % passes with {found.miss:.2g}, {how}",
    ]


def _judge(given: argparse.Namespace) -> int:
    if not (math.isfinite(given.got) and given.got >= 0):
        raise ValueError(f"--got: got {given.got}, expected a mean number of accepted drafts")
    lengths = _lengths(given)
    if given.got > lengths.longest:
        wanted = f"a mean number of accepted drafts, without the bonus, of 0 to {lengths.longest}"
        raise ValueError(f"--got: got {given.got:g}, expected {wanted}")
    found = bound(lengths, given.steps, loss=given.loss, false_alarm=given.false_alarm, between=_between(given))
    check_error("miss", given.miss)
    verdict, code = ("failed", FAILED) if given.got < found.least else ("passed", PASSED)
    more = ""
    if verdict == "passed" and found.miss > given.miss and lengths.mean > 0:  # a mean of 0 has no loss
        verdict, code = "undecided", UNDECIDED
        more = f", but {given.steps:,} steps are too few to show a loss of {100 * given.loss:g} %; see `prompts`"
    _say(given, vars(found) | {"got": given.got, "status": verdict}, "\n".join([
        f"{verdict}: got {given.got:.6g} accepted drafts a step, expected at least {found.least:.6g}{more}",
        *_told(found),
    ]))  # fmt: skip
    return code


def _flags(given: argparse.Namespace) -> int:
    lengths = _lengths(given)
    settings = synthetic(lengths)
    _say(given, {"mean_accepted": float(lengths.mean), "settings": [vars(one) for one in settings]}, "\n".join([
        "For measurements of speed alone: these settings accept drafts without a test.",
        *(f"{one.engine}\n  {one.line or 'none'}\n  {one.note}" for one in settings),
    ]))  # fmt: skip
    return PASSED
