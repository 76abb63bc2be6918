"""The command line of decoding."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..capture.command import BAD_INPUT, DONE, INTERNAL_ERROR, STOPPED, quantisation, silence_libraries, stoppable
from ..capture.errors import CaptureError
from ..capture.options import Filter, Options, skip_list
from ..files import with_metadata, writable, written
from ..program import FAILED, Parser, ProgramError, ProgramNotFound
from ..program import say as say_of
from .settings import CLOCKS, DRAFTS, VERIFIERS, Settings


def run_command(arguments: Sequence[str]) -> int:
    """Runs a command line. Exit codes: 0 done, 1 an audit failed, 2 usage or bad input, 3 stopped, 4 internal error."""
    return guarded(_parser(), arguments, _decode)


def guarded(parser: Parser, arguments: Sequence[str], work: Callable[[argparse.Namespace], int]) -> int:
    """Runs `work` on parsed arguments and turns errors into messages and exit codes."""
    try:
        given = parser.parse_args(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)
    silence_libraries()
    with stoppable():
        return _guarded(parser.prog, work, given)


def _guarded(prog: str, work: Callable[[argparse.Namespace], int], given: argparse.Namespace) -> int:
    try:
        return work(given)
    except KeyboardInterrupt:
        print(f"{prog}: stopped", file=sys.stderr)
        return STOPPED
    except (CaptureError, OSError, ProgramNotFound, ProgramError) as error:
        say_of(prog, error)
        return BAD_INPUT
    except Exception:
        traceback.print_exc()
        return INTERNAL_ERROR


def _decode(given: argparse.Namespace) -> int:
    check_output(given, *with_metadata(given.predict))
    from . import decode

    def say(line: str) -> None:
        if not given.quiet:
            say_of("draftproof decode", line)

    result = decode(
        given.target,
        given.texts,
        settings_given(given, tokens=given.tokens, rounds=given.rounds, prompt=given.prompt),
        draft=given.draft,
        drafts=listed(given.drafts),
        shapes=listed(given.shape),
        verifiers=listed(given.verifier),
        tokenizer=given.tokenizer,
        audit=given.audit or given.traces is not None,
        traces=given.traces,
        predict=given.predict,
        say=say,
    )
    show(given, result, _text)
    failed = any(entry.get("audit", {}).get("verdict") == "failed" for entry in result["settings"])
    return FAILED if failed else STOPPED if result["stopped"] else DONE


def settings_given(given: argparse.Namespace, **more: Any) -> Settings:
    """Returns the settings for the options that `add_models` adds."""
    return Settings(
        target_filter=Filter(given.target_temperature, given.target_top_k, given.target_top_p),
        draft_filter=Filter(given.proposal_temperature, given.proposal_top_k, given.proposal_top_p),
        seed=given.seed,
        device=given.device,
        threads=given.threads,
        clock=given.clock,
        draft_skip_layers=skip_list(given.draft_skip_layers) if given.draft_skip_layers else (),
        quantise_draft=quantisation(given.quantise_draft),
        **more,
    )


def check_output(given: argparse.Namespace, *inputs: Path | None) -> None:
    """Checks, before the work, that the file of `-o` can be written. Raises: OSError, also if it is a file that the
    command reads: the models, the texts or one of `inputs`."""
    if given.output is not None:
        writable(given.output, (given.target, given.draft, given.tokenizer, given.texts, *inputs))


def show(given: argparse.Namespace, result: dict[str, Any], text: Callable[[dict[str, Any]], str]) -> None:
    """Prints the result, or writes it to the file of `-o`. Raises: OSError if the file cannot be written; the result is
    then printed."""
    line = json.dumps(result, indent=1) if given.json or given.output else text(result)
    if given.output is None:
        print(line)
        return
    try:
        with written(given.output) as file:
            file.write((line + "\n").encode())
    except OSError:
        print(line)
        raise


def listed(given: list[str] | None) -> list[str] | None:
    """Returns the values of an option that may be repeated and may have lists separated by commas; None if there are
    none."""
    words = [word for entry in given or [] for word in entry.split(",") if word]
    return words or None


def _text(result: dict[str, Any]) -> str:
    plain = result["plain"]["tokens_per_second"]
    prediction = result.get("prediction")
    heads = ("drafts", "shape", "verifier", "accepted a call", "tokens/s", "against plain", "audit")
    more = () if prediction is None else ("predicted", "interval", "error")
    rows = [
        (
            entry["drafts"],
            entry["shape"],
            entry["verifier"],
            _number(entry["accepted_per_call"], entry["standard_error"]),
            f"{entry['tokens_per_second']:.2f}",
            _number(entry["ratio"], entry["ratio_standard_error"]),
            entry["audit"]["verdict"] if "audit" in entry else "",
            *(_predicted(entry) if more else ()),
        )
        for entry in sorted(result["settings"], key=lambda entry: -entry["ratio"])
    ]
    table = [(*heads, *more), *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    if prediction is not None:
        lines += ["", *_verdict(prediction, result["rounds"])]
    about = f"{result['target']}, V = {result['vocabulary']}, {machine(result)}"
    draft = f"\ndraft model: {result['draft']}" if result["draft"] else ""
    return "\n".join(
        [f"{about}{draft}", f"plain decoding: {plain:.2f} tokens/s", "", *(line.rstrip() for line in lines)]
    )


def _predicted(entry: dict[str, Any]) -> tuple[str, str, str]:
    found = entry["predicted"]
    if found is None:
        return "", "", ""
    error = found["tokens_per_second"] / entry["tokens_per_second"] - 1
    return f"{found['tokens_per_second']:.2f}", f"{found['low']:.2f} to {found['high']:.2f}", f"{100 * error:+.1f} %"


def _verdict(prediction: dict[str, Any], rounds: int) -> list[str]:
    from .prediction import FEWEST_ROUNDS

    plain, error = prediction["plain_tokens_per_second"], prediction["plain_error"]
    swapped, pairs = prediction["pairs_in_another_order"], prediction["pairs_apart"]
    lines = [
        f"plain decoding, predicted: {plain:.2f} tokens/s, error {100 * error:+.1f} %",
        f"tune chooses {' '.join(prediction['chosen'])}: measured {100 * prediction['loss_of_chosen']:.1f} % below the "
        f"fastest, {' '.join(prediction['fastest'])}",
        f"{swapped} of {pairs} pairs whose intervals are apart are in another order"
        if rounds >= FEWEST_ROUNDS
        else f"no pair of settings counts as apart: fewer than {FEWEST_ROUNDS} rounds",
    ]
    if not prediction["beats_plain"]:
        lines.append("tune: no setting is faster than plain decoding beyond the intervals")
    return lines


def machine(result: dict[str, Any]) -> str:
    """Returns the device, the threads and the clock of a result as text."""
    return f"{result['device']}, {result['threads']} threads, {result['clock']} time"


def _number(value: float, error: float | None) -> str:
    return f"{value:.3f}" if error is None else f"{value:.3f} +- {error:.3f}"


def add_models(parser: Parser) -> None:
    """Adds the options of models and their rows."""
    default = Options()
    add = parser.add_argument
    model = "name or folder of a transformers model, its .gguf file, or python:MODULE:NAME"
    add("--target", required=True, metavar="MODEL", help=model)
    add("--draft", metavar="MODEL", help="draft model, given like --target")
    add("--draft-skip-layers", metavar="LIST", help="layers that the draft leaves out, as in 20-24,27")
    add("--quantise-draft", nargs="?", const="int8", metavar="BITS", help="quantise the draft: int8, or 2 to 8 bits")
    add("--tokenizer", metavar="NAME", help="name or folder of a tokenizer, or bytes [the target's]")
    for who, side in (("target", "target"), ("proposal", "draft model")):
        add(f"--{who}-temperature", type=float, default=1.0, metavar="T", help=f"temperature of the {side}; 0: greedy")
        add(f"--{who}-top-k", type=int, default=0, metavar="K", help=f"top-k of the {side}")
        add(f"--{who}-top-p", type=float, default=1.0, metavar="P", help=f"top-p of the {side}")
    add("--device", default=default.device, help="device of the models, as in cpu or cuda")
    add("--threads", type=int, metavar="N", help="processor threads of the models [torch's number]")
    add("--clock", choices=CLOCKS, default="wall", help="wall time, or processor time, which needs one thread")
    add("--seed", type=int, default=default.seed, help="seed of drafts, decisions and the order of rounds")
    add("--json", action="store_true", help="print JSON")
    add("-o", "--output", type=Path, metavar="FILE", help="write JSON to a file")
    add("-q", "--quiet", action="store_true", help="print no progress on standard error")


def _parser() -> Parser:
    default = Settings()
    parser = Parser(
        prog="draftproof decode",
        description="Decodes texts speculatively with transformers and measures it against plain decoding.",
        epilog="Exit codes: 0 done, 1 an audit failed, 2 usage or bad input, 3 stopped, 4 internal error.",
    )
    add_models(parser)
    add = parser.add_argument
    add("--texts", required=True, type=Path, metavar="FILE", help="prompts separated by blank lines, or .jsonl")
    add("--drafts", action="append", metavar="LIST", help=f"some of {', '.join(DRAFTS)} [all available]")
    add(
        "--shape",
        action="append",
        metavar="LIST",
        help="4x8: 4 paths of 8 tokens; 4-2-1: a tree whose siblings differ; 2+1-1+1: fixed and drawn children [1x8]",
    )
    add("--verifier", action="append", metavar="LIST", help=f"some of {', '.join(VERIFIERS)} [all that fit the shape]")
    add("--tokens", type=int, default=default.tokens, metavar="N", help="number of tokens decoded for each text")
    add("--rounds", type=int, default=default.rounds, metavar="R", help="number of texts that every setting decodes")
    add("--prompt", type=int, default=default.prompt, metavar="N", help="use the last N tokens of a longer prompt")
    add(
        "--predict",
        type=Path,
        metavar="TREES",
        help="also show what tune predicts on captured trees; needs one --drafts",
    )
    add("--audit", action="store_true", help="audit the texts, with target rows computed without a cache")
    add("--traces", type=Path, metavar="FOLDER", help="audit, and keep the recordings in this folder")
    return parser
