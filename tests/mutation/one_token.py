#!/usr/bin/env python3
"""Changes one token of product code at a time and reports which changes the tests notice.

  one_token.py --build build/default [--count 100] [--seed 1] [--write FILE]   draws changes and tests each
  one_token.py --build build/default --changes FILE                            tests the changes of an earlier report

A change replaces one operator, number or keyword in a line of C++ outside comments, strings and includes. Changes
that do not compile are drawn again. A report has the text of each changed line. With --changes a change is made at
its old line if that still has the text, else at the only line that has it, in whichever file; it is `gone` if no line
or several have the text.
Each change is built and tested with `ctest`, which stops at the first failed test. The source file is restored after
every change, also after Ctrl-C. Cost: for each change one incremental build and at most one run of all tests.
Exit codes: 0, or 2 if the unchanged tree does not build.
"""
import argparse
import json
import random
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("adapters", "captures", "cli", "optimum", "properties", "sim", "verifiers")
REPLACED = {"<": ["<=", ">"], ">": [">=", "<"], "<=": ["<", ">="], ">=": [">", "<="], "==": ["!="], "!=": ["=="],
            "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "+=": ["-="], "-=": ["+="], "++": ["--"], "&&": ["||"],
            "||": ["&&"], "true": ["false"], "false": ["true"], "0": ["1"], "1": ["2", "0"], "2": ["3", "1"],
            "min": ["max"], "max": ["min"], "begin": ["end"], "front": ["back"], "back": ["front"]}
TOKEN = re.compile(r"//.*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\d[\w.]*|<=>|->\*?|<<=?|>>=?|::|"
                   r"[-+*/%&|^=!<>]=|\+\+|--|&&|\|\||\S")


def tokens(line):
    """Returns [(column, token)] of the tokens of a line that can be changed."""
    if re.match(r"\s*(#|//|template\b|using\b|namespace\b|static_assert\b)", line):
        return []
    return [(found.start(), found[0]) for found in TOKEN.finditer(line) if found[0] in REPLACED]


def drawn(rng):
    """Yields random changes without end: {file, line, number, column, token, by}."""
    names = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = [(name, number, line) for name in names.split() if name.endswith((".cpp", ".hpp"))
             for number, line in enumerate((ROOT / name).read_text().splitlines()) if tokens(line)]
    while True:
        name, number, line = rng.choice(lines)
        column, token = rng.choice(tokens(line))
        yield {"file": name, "line": line, "number": number, "column": column, "token": token,
               "by": rng.choice(REPLACED[token])}


def located(change):
    """Returns (path, line number) of a change: its stored location if the line there is unchanged, else the location
    of the only equal line; None if there is no such line, or more than one."""
    path = ROOT / change["file"]
    if path.exists():
        lines = path.read_text().splitlines()
        if change["number"] < len(lines) and lines[change["number"]] == change["line"]:
            return path, change["number"]
    names = subprocess.run(["git", "grep", "-lF", "-e", change["line"], "--", *PACKAGES], cwd=ROOT, capture_output=True,
                           text=True).stdout.split()
    equal = [(ROOT / name, number) for name in names
             for number, line in enumerate((ROOT / name).read_text().splitlines()) if line == change["line"]]
    return equal[0] if len(equal) == 1 else None


def run(command, log):
    return subprocess.run(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT).returncode == 0


def outcome(change, build, log):
    """Makes a change, builds, tests and undoes it. Returns `killed`, `survived`, `not compiled` or `gone`."""
    found = located(change)
    if found is None:
        return "gone"
    path, number = found
    original = path.read_text()
    lines = original.splitlines(keepends=True)
    column = change["column"]
    lines[number] = lines[number][:column] + change["by"] + lines[number][column + len(change["token"]):]
    try:
        path.write_text("".join(lines))
        if not run(["cmake", "--build", build], log):
            return "not compiled"
        passed = run(["ctest", "--test-dir", build, "-j2", "--stop-on-failure", "--timeout", "600"], log)
        return "survived" if passed else "killed"
    finally:
        path.write_text(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="a build folder whose tests pass")
    parser.add_argument("--count", type=int, default=100, help="changes that compile")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--changes", type=Path, help="an earlier report, whose changes are made again")
    parser.add_argument("--write", type=Path, help="the report, written after every change")
    given = parser.parse_args()
    if given.count < 1:
        parser.error(f"--count: got {given.count}, expected at least 1")
    changes = json.loads(given.changes.read_text()) if given.changes else drawn(random.Random(given.seed))
    report = []
    with open(Path(given.build) / "one_token.log", "w") as log:
        if not run(["cmake", "--build", given.build], log):
            print("the unchanged tree does not build: see", log.name, file=sys.stderr)
            return 2
        for change in changes:
            start = time.monotonic()
            result = outcome(change, given.build, log)
            if result == "not compiled" and not given.changes:
                continue
            report.append({**change, "outcome": result})
            print(f"{len(report)} {result} in {time.monotonic() - start:.0f} s: {change['file']}:"
                  f"{change['number'] + 1}: {change['token']} -> {change['by']}: {change['line'].strip()}", flush=True)
            if given.write:
                given.write.write_text(json.dumps(report, indent=1) + "\n")
            if not given.changes and len(report) == given.count:
                break
        run(["cmake", "--build", given.build], log)
    print(dict(Counter(change["outcome"] for change in report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
