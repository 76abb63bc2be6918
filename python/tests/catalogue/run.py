"""Runs right functions, right engines, or wrong functions through draftproof.check and prints each result that is not
as wanted.

python python/tests/catalogue/run.py right 1000 --seed 3
python python/tests/catalogue/run.py texts 1000
python python/tests/catalogue/run.py wrong
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread, because each function has a separate process
sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

import draftproof  # noqa: E402
from catalogue import Entry, entries, judge  # noqa: E402
from catalogue.right_texts import RightText, right_texts  # noqa: E402
from catalogue.written import Written, right_functions  # noqa: E402


def held(written: Written, seed: int = 1, **changes: Any) -> str:
    """Returns an empty text if the function passed, else the verdict or exception as text."""
    given = {"profile": "quick", "seed": seed, "keep": False, "raises": False, **written.declared, **changes}
    try:
        verdict = draftproof.check(written.fn, **given)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if verdict.status == "passed" else str(verdict)


def in_processes(work: Callable[[Any], Any], items: Iterable[Any], processes: int, limit: float) -> Iterator[Any]:
    """Yields (item, work(item)) in the order in which the calls end. Each call has a separate process, which is killed
    after `limit` s."""
    context = multiprocessing.get_context("fork")
    waiting, running = iter(items), {}
    while True:
        for item in itertools.islice(waiting, processes - len(running)):
            here, there = context.Pipe(duplex=False)
            process = context.Process(target=lambda item=item, there=there: there.send(work(item)))
            process.start()
            there.close()
            running[here] = item, process, time.monotonic() + limit
        if not running:
            return
        next_end = min(end for _, _, end in running.values())
        ready = wait(list(running), max(0.0, next_end - time.monotonic()))
        for here in [*ready, *(one for one in running if one not in ready and running[one][2] <= time.monotonic())]:
            item, process, _ = running.pop(here)
            try:
                result = here.recv() if here in ready else f"no end in {limit:g} s"
            except EOFError:
                result = "the process ended"
            process.kill()
            process.join()
            yield item, result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("right", "texts", "wrong"))
    parser.add_argument("count", nargs="?", type=int, default=1000, help="right functions, or checks of right engines")
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        help="of the functions; of each engine's first check",
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one function")
    asked = parser.parse_args()
    if asked.table == "wrong":
        return wrong(asked)
    if asked.table == "texts":
        return texts(asked)
    functions = list(itertools.islice(right_functions(asked.seed), asked.count))
    failed: Counter[str] = Counter()
    asked_functions = [(written, asked.seed) for written in functions]
    for done, (written, said) in enumerate(in_processes(_held, asked_functions, asked.processes, asked.limit), 1):
        if done % 50 == 0:
            print(f"{done} of {asked.count} functions checked", file=sys.stderr, flush=True)
        if said:
            failed[written[0].style] += 1
            print(f"=== {written[0].style} {written[0].declared}\n{written[0].text}\n{said}\n", flush=True)
    print(f"{asked.count - failed.total()} of {asked.count} held; not held: {dict(failed)}")
    return 1 if failed else 0


def _held(given: tuple[Written, int]) -> str:
    return held(*given)


def _held_text(given: tuple[RightText, int]) -> str:
    text, seed = given
    verdict = draftproof.check(None, generate=text.generate, seed=seed, keep=False, raises=False, **text.declared)
    return "" if verdict.status == "passed" else str(verdict)


def texts(asked: argparse.Namespace) -> int:
    engines = right_texts()
    checks = [(engines[i % len(engines)], asked.seed + i // len(engines)) for i in range(asked.count)]
    failed = 0
    for (text, seed), said in in_processes(_held_text, checks, asked.processes, asked.limit):
        failed += bool(said)
        if said:
            print(f"=== {text.style}, seed {seed}\n{said}\n", flush=True)
    print(f"{asked.count - failed} of {asked.count} held")
    return 1 if failed else 0


def _amiss(entry: Entry) -> str:
    return judge(entry)[0]


def wrong(asked: argparse.Namespace) -> int:
    amiss, table = 0, [entry for entry in entries(wrong=True) if not entry.gap]
    for entry, said in in_processes(_amiss, table, asked.processes, asked.limit):
        amiss += bool(said)
        print(f"{'MISSED' if said else 'ok':7} {entry.name}" + (f"\n        {said}" if said else ""), flush=True)
    print(f"{len(table) - amiss} of {len(table)} as wanted")
    return 1 if amiss else 0


if __name__ == "__main__":
    raise SystemExit(main())
