"""The command line of engines; __init__.py has its description."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import draftproof.engines
from draftproof.engines import census, findings, pages, results
from draftproof.engines.engine import Engine, Missing, discover, repository
from draftproof.engines.install import install
from draftproof.program import Parser, say

PASSED, FAILED, BAD_INPUT, UNDECIDED, DIED, SKIPPED = 0, 1, 2, 3, 4, 77
_CODES = {"passed": PASSED, "failed": FAILED, "undecided": UNDECIDED, "skipped": SKIPPED}
_WORST = (DIED, FAILED, UNDECIDED, PASSED, SKIPPED)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line. Returns the exit code."""
    parser = _parser()
    options = parser.parse_args(argv)
    if not 0 < options.limit < float("inf"):
        parser.error(f"--limit: got {options.limit}, expected a number of seconds above 0")
    for name in ("seed", "repeat", "models"):
        if getattr(options, name) < 0:
            parser.error(f"--{name}: got {getattr(options, name)}, expected an integer of at least 0")
    try:
        base = repository()
        known = discover(base / "python" / "engines")
        chosen = _chosen(known, options.names)
    except (Missing, OSError) as error:
        say("draftproof engines", error)
        return BAD_INPUT
    try:
        return _run(known, chosen, base, options)
    except (Missing, OSError) as error:
        if options.into:  # an error of the engine: the traceback shows its location
            raise
        say("draftproof engines", error)
        return BAD_INPUT


def _run(known: dict[str, Engine], chosen: dict[str, list[str]], base: Path, options: argparse.Namespace) -> int:
    """Does what the options ask for on the chosen engines. Returns the exit code."""
    if options.list:
        return _list([known[name] for name in chosen])
    if options.write_docs:
        findings.write_page(base)
        pages.write_page(base)
        census.write_page(base)
        return PASSED
    if options.into:
        ((name, adapters),) = chosen.items()
        engine, into = known[name], Path(options.into)

        def keep(result: dict[str, Any]) -> None:
            results.replace(into, json.dumps(result))

        if options.repeat:
            keep(
                results.repeat(
                    engine,
                    adapters,
                    options.repeat,
                    seed=options.seed,
                    models=options.models,
                    limit=options.limit,
                    keep=keep,
                )
            )
        else:
            keep(
                results.run(
                    engine, adapters, seed=options.seed, timings=options.timings, limit=options.limit, keep=keep
                )
            )
        return PASSED
    codes = [_one(known[name], adapters, base, options) for name, adapters in chosen.items()]
    return next(code for code in (*_WORST, BAD_INPUT) if code in codes)


def _parser() -> Parser:
    words, _, rest = (draftproof.engines.__doc__ or "").partition("\n")
    parser = Parser(
        "draftproof engines", description=words, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME[:ADAPTER]", help="engines to run [all]")
    parser.add_argument("--list", action="store_true", help="print the names of engines and adapters, run none")
    parser.add_argument(
        "--install", action="store_true", help="install the packages that the engines declare, then run them"
    )
    parser.add_argument(
        "--write-docs",
        action="store_true",
        help="write docs/engines.md and docs/census.md from the stored results, and docs/findings/README.md from the "
        "pages beside it, run no engine",
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of models and predictions [%(default)s]")
    parser.add_argument("--timings", action="store_true", help="store the seconds of each adapter")
    parser.add_argument(
        "--limit", type=float, default=600, metavar="SECONDS", help="time limit of each gate [%(default)s]"
    )
    told = "count how many of N gates with other seeds pass; adds to a stored count if the seeds continue it"
    parser.add_argument("--repeat", type=int, default=0, metavar="N", help=told)
    told = (
        "models of each repeated gate [%(default)s]; 0: one with one draft and 2 or 3 tokens, for slow chain adapters"
    )
    parser.add_argument("--models", type=int, default=2, metavar="M", help=told)
    parser.add_argument("--into", help=argparse.SUPPRESS)  # a file for the result of one engine, run in this process
    return parser


def _chosen(known: dict[str, Engine], names: Sequence[str]) -> dict[str, list[str]]:
    chosen: dict[str, list[str]] = {}
    for text in names or known:
        name, _, adapter = text.partition(":")
        adapters = [one.name for one in known[name].adapters] if name in known else []
        if name not in known:
            raise Missing(f"engine {name!r} is unknown, expected one of {', '.join(known)}")
        if adapter and adapter not in adapters:
            raise Missing(f"{name} has no adapter {adapter!r}, expected one of {', '.join(adapters)}")
        chosen.setdefault(name, []).extend([adapter] if adapter else [])
    return chosen


def _list(engines: Sequence[Engine]) -> int:
    for engine in engines:
        try:
            said = engine.version()
        except Missing as error:
            said = f"skipped: {error}"
        print(f"{engine.name:20} {said}")
        for adapter in engine.adapters:
            print(f"  {adapter.name:30} {' '.join(adapter.tiers)}")
    return PASSED


def _one(engine: Engine, adapters: list[str], base: Path, options: argparse.Namespace) -> int:
    """Runs one engine in a separate process, because engines need conflicting libraries and may crash."""
    try:
        if options.install:
            install(engine)
        version = engine.version()
    except Missing as error:
        print(f"{engine.name}: skipped, {error}")
        return SKIPPED
    print(f"{engine.name} {version}", flush=True)
    with tempfile.TemporaryDirectory(prefix="draftproof-engine-") as folder:
        into = Path(folder) / "result.json"
        names = [f"{engine.name}:{adapter}" for adapter in adapters] or [engine.name]
        start = "from draftproof.engines import main; raise SystemExit(main())"
        command = [sys.executable, "-c", start, *names, "--into", str(into), "--seed", str(options.seed)]
        command += ["--timings"] if options.timings else []
        command += ["--repeat", str(options.repeat), "--models", str(options.models), "--limit", str(options.limit)]
        paths = [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
        env = {**os.environ, **engine.environment, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
        code = _ended(subprocess.Popen(command, cwd=base, env=env))
        if code != 0 and into.is_file():
            print(f"{engine.name}: its process ended with code {code}; earlier results are stored", file=sys.stderr)
        elif code != 0 or not into.is_file():
            print(f"{engine.name}: its process ended with code {code} and gave no result", file=sys.stderr)
            return DIED
        result = json.loads(into.read_text())
    kept = base / "python" / "engines" / "results"
    if options.repeat:
        told = _tell_repeated(engine, version, result, kept, options.repeat)
        return DIED if code != 0 else told
    last = [one for one in results.results(kept) if one["engine"] == engine.name]
    same = [one for one in last if one["version"] == result["version"]]
    _tell(result)
    results.write(result, kept)
    _tell_changes((same or last)[-1:], result)
    statuses = {_CODES[adapter["status"]] for adapter in result["adapters"]} | ({DIED} if code != 0 else set())
    return next((code for code in _WORST if code in statuses), SKIPPED)


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Waits for a process and returns its exit code. On Ctrl-C the process gets SIGINT too, and ends after it has
    stored its results; this function then continues to wait."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def _tell_repeated(engine: Engine, version: str, counted: dict[str, Any], kept: Path, asked: int) -> int:
    """Prints how many gates passed, and stores the counts in the kept results of the adapters, if there are any.

    A stored count is added to the new one if it has equally many models and its seeds end where the new ones begin.
    """
    skipped = {name: one["skipped"] for name, one in counted.items() if "skipped" in one}
    counted = {name: one for name, one in counted.items() if name not in skipped}
    known = [one for one in results.results(kept) if (one["engine"], one["version"]) == (engine.name, version)]
    for result in known:
        for adapter in result["adapters"]:
            if adapter["name"] in counted:
                kept_count, one = (
                    adapter.get("repeated"),
                    {k: v for k, v in counted[adapter["name"]].items() if k != "first"},
                )
                if kept_count and _follows(kept_count, one):
                    wrong = Counter(kept_count.get("failed", {})) + Counter(one.get("failed", {}))
                    one = kept_count | {key: kept_count[key] + one[key] for key in ("gates", "passed")}
                    one |= {"failed": dict(wrong)} if wrong else {}
                adapter["repeated"] = one
        results.write(result, kept)
    for name, one in counted.items():
        print(f"  {name:30} {one['passed']} of {one['gates']} gates passed, {_each(one)} each")
        if "first" in one:
            print(f"    seed {one['first']['seed']}: {one['first']['says']}")
    for name, reason in skipped.items():
        print(f"  {name:30} skipped, {reason}")
    if not counted:
        return SKIPPED if skipped else UNDECIDED
    if any(one["passed"] < one["gates"] for one in counted.values()):
        return FAILED
    return PASSED if all(one["gates"] == asked for one in counted.values()) else UNDECIDED


def _each(one: dict[str, Any]) -> str:
    return f"{one['models'] or '1 small'} models" if "models" in one else "trials"


def _follows(before: dict[str, Any], one: dict[str, Any]) -> bool:
    return bool(before.get("models") == one.get("models") and before["seed"] + before["gates"] == one["seed"])


def _tell(result: dict[str, Any]) -> None:
    for adapter in result["adapters"]:
        print(f"  {adapter['name']:30} {adapter['status']}" + (f"  {adapter['reason']}" if "reason" in adapter else ""))
        for tier in adapter.get("tiers", ()):
            print(f"    {tier['tier']:8} {tier['status']}  {tier['note']}")
            for one in tier["findings"]:
                if one["status"] in ("failed", "undecided"):
                    print(f"      {one['check']}: {one.get('evidence', '')}")
                    print(f"        on {one['counterexample']}" if one.get("counterexample") else "", end="\n")


def _tell_changes(last: list[dict[str, Any]], result: dict[str, Any]) -> None:
    for before in last:
        asked = {adapter["name"] for adapter in result["adapters"]}
        before = {**before, "adapters": [adapter for adapter in before["adapters"] if adapter["name"] in asked]}
        changes = results.difference(before, result)
        print(f"  against the result of {before['version']}: " + ("no change" if not changes else ""))
        for line in changes:
            print(f"    {line}")
