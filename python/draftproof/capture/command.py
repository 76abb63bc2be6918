"""The command line of a capture."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from draftproof.program import Parser, say

from .errors import CaptureError
from .models import of_a_function
from .options import DTYPES, VALUES, Filter, Options, Trees, skip_list
from .run import Captured, capture

DONE, BAD_INPUT, STOPPED, INTERNAL_ERROR = 0, 2, 3, 4


def run_command(arguments: Sequence[str]) -> int:
    """Runs a capture. Exit codes: 0 done, 2 usage or bad input, 3 stopped by a signal, 4 internal error."""
    try:
        given = _parser().parse_args(arguments)
    except SystemExit as ended:
        return int(ended.code or 0)
    with stoppable():
        return _run(given)


def _run(given: argparse.Namespace) -> int:
    display = Display(quiet=given.quiet)
    if given.quiet or not sys.stderr.isatty():
        silence_libraries()
    try:
        done = capture(
            given.target,
            _drafts(given.draft),
            given.texts,
            given.output,
            _options(given),
            tokenizer=given.tokenizer,
            restart=given.restart,
            overwrite=given.overwrite,
            progress=display.show,
            say=display.say,
        )
    except KeyboardInterrupt:
        display.say("stopped; the same command continues from here")
        return STOPPED
    except (CaptureError, OSError) as error:
        display.end()
        say("draftproof capture", error)
        return BAD_INPUT
    except (Exception, SystemExit) as error:
        display.end()
        if of_a_function(error):
            from draftproof.subject import words_of

            say("draftproof capture", f"model: got {words_of(error)}, expected rows of numbers")
            return BAD_INPUT
        traceback.print_exc()
        return INTERNAL_ERROR
    display.say(f"wrote {done.path}: {_line(done)}")
    return DONE


class Display:
    """Progress on standard error: one line that is rewritten on a terminal, else a line every few seconds."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._last = -float("inf")
        self._open = False

    def show(self, state: Captured) -> None:
        """Prints the progress, if the last line is old enough."""
        if self._quiet or time.monotonic() - self._last < (0.2 if self._terminal else 5.0):
            return
        self._last = time.monotonic()
        end = "" if self._terminal else "\n"
        print(("\r" if self._terminal else "") + _line(state), end=end, file=sys.stderr, flush=True)
        self._open = self._terminal

    def say(self, line: str) -> None:
        """Prints a message on a new line."""
        self.end()
        if not self._quiet:
            say("draftproof capture", line)

    def end(self) -> None:
        """Ends a line that is still being rewritten."""
        if self._open:
            print(file=sys.stderr)
        self._open = False


def _line(state: Captured) -> str:
    new = state.positions - state.resumed
    rate = f", {new / state.seconds:.1f} a second" if new and state.seconds > 0 else ""
    accepted = ", ".join(f"{name} accepted with {mean:.4f}" for name, mean in state.acceptance.items())
    return f"{state.positions} of {state.total} positions, V = {state.vocabulary}{rate}, {accepted}"


def silence_libraries() -> None:
    """Switches off the progress bars of libraries that are imported later: their rewritten line fills a log."""
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")


def quantisation(given: str | None) -> str | int | None:
    """Returns the value of --quantise-draft: 2 to 8 as a number of bits, any other text as it is."""
    return int(given) if given in tuple("2345678") else given


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Until the context ends, SIGINT and SIGTERM raise KeyboardInterrupt; then their previous handlers are restored.
    Python allows handlers in the main thread alone, so this context changes no handlers in other threads."""
    with contextlib.ExitStack() as previous:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                handler = signal.getsignal(number)
                if handler is not None:  # None: a handler of C code, which signal.signal cannot restore
                    previous.callback(signal.signal, number, handler)
                    signal.signal(number, _stop)
        yield


def _stop(number: int, frame: object) -> NoReturn:
    # A second signal ends the process at once, in case a library catches the exception.
    signal.signal(number, signal.SIG_DFL)
    raise KeyboardInterrupt


def _drafts(given: list[str] | None) -> Any:
    if not given:
        return None
    return given[0] if len(given) == 1 else {f"draft_{i}": one for i, one in enumerate(given, start=1)}


def _options(given: argparse.Namespace) -> Options:
    default = Options()
    shape = Trees(*given.trees) if given.trees else None
    return Options(
        positions=given.positions,
        context=given.context,
        skip=given.skip,
        continue_tokens=given.continue_tokens,
        steps=given.steps,
        dtype=given.dtype,
        keep_mass=given.keep_mass,
        most_tokens=given.most_tokens,
        trees=shape,
        target_filter=Filter(given.target_temperature, given.target_top_k, given.target_top_p),
        draft_filter=Filter(given.proposal_temperature, given.proposal_top_k, given.proposal_top_p),
        values=given.values,
        quantise_draft=quantisation(given.quantise_draft),
        draft_skip_layers=skip_list(given.draft_skip_layers) if given.draft_skip_layers else default.draft_skip_layers,
        device=given.device,
        seed=given.seed,
    )


def _tree_shape(text: str) -> tuple[int, int]:
    paths, _, length = text.partition("x")
    if not (paths.isdecimal() and length.isdecimal() and len(text) <= 20):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected PATHSxLENGTH as in 4x8")
    return int(paths), int(length)


def _parser() -> Parser:
    default = Options()
    parser = Parser(
        prog="draftproof capture",
        description="Captures rows of a target and of a draft model at the same positions of texts.",
        epilog="Exit codes: 0 done, 2 usage or bad input, 3 stopped (the same command continues), 4 internal error.",
    )
    add = parser.add_argument
    model = "name or folder of a transformers model, its .gguf file, or python:MODULE:NAME"
    add("--target", required=True, metavar="MODEL", help=model)
    add(
        "--draft",
        action="append",
        metavar="MODEL",
        help="draft model, given like --target; several models give draft_1, draft_2, ..",
    )
    add("--texts", required=True, type=Path, metavar="FILE", help="file of texts separated by blank lines, or .jsonl")
    add("--positions", type=int, default=default.positions, metavar="N", help="number of rows, spread over the texts")
    add("-o", "--output", required=True, type=Path, metavar="FILE", help="capture to write, .safetensors or .npz")
    add("--tokenizer", metavar="NAME", help="name or folder of a tokenizer, or bytes [the target's]")
    add(
        "--context",
        type=int,
        default=default.context,
        metavar="W",
        help="largest number of tokens before a position [512, or as many as all models take]",
    )
    add("--skip", type=int, default=default.skip, metavar="W", help="smallest number of tokens before a position")
    add("--continue-tokens", type=int, default=0, metavar="M", help="texts are prompts; the target draws M tokens")
    add(
        "--steps",
        type=int,
        default=0,
        metavar="N",
        help="positions where successive steps begin that test N drafts of a path [positions spread evenly]",
    )
    add("--dtype", choices=DTYPES, default=default.dtype, help="type of the stored rows; float16 stores logits")
    add("--keep-mass", type=float, metavar="M", help="store only the likeliest tokens, with mass M of each model's row")
    add(
        "--most-tokens",
        type=int,
        default=default.most_tokens,
        metavar="N",
        help="largest number of tokens of a truncated row",
    )
    add("--trees", type=_tree_shape, metavar="PxL", help="capture P paths of L tokens drawn from the draft, as in 4x8")
    add(
        "--quantise-draft",
        nargs="?",
        const="int8",
        metavar="BITS",
        help="quantise the draft: int8, or 2 to 8 bits in groups of 32",
    )
    add("--draft-skip-layers", metavar="LIST", help="layers that the draft leaves out, as in 20-24,27")
    stored = "in the engine; stored as metadata, and applied only to trees (--trees) with --proposal-top-k"
    for who in ("target", "proposal"):
        add(f"--{who}-temperature", type=float, default=1.0, metavar="T", help=f"temperature of the {who} {stored}")
        add(f"--{who}-top-k", type=int, default=0, metavar="K", help=f"top-k of the {who} {stored}")
        add(f"--{who}-top-p", type=float, default=1.0, metavar="P", help=f"top-p of the {who} {stored}")
    add(
        "--values",
        choices=VALUES,
        default=default.values,
        help="values that a python: function returns [logits, unless they look like probabilities]",
    )
    add("--device", default=default.device, help="device of transformers models, as in cpu or cuda")
    add("--seed", type=int, default=default.seed, help="seed of drawn tokens")
    add("--restart", action="store_true", help="discard the part file of a stopped run")
    add("--overwrite", action="store_true", help="replace an output that exists")
    add("-q", "--quiet", action="store_true", help="print no progress on standard error")
    return parser
