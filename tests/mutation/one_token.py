#!/usr/bin/env python3
"""Changes one token of product code at a time and reports which changes the tests notice.

  one_token.py FOLDER [--each 10] [--seed 1] [PACKAGE..]     draws changes of each package (all that are named below)
  one_token.py FOLDER --changes FILE                         tests the changes of an earlier report

A change replaces one operator, number or keyword in a line of C++ that is a whole statement or condition. All changes
are compiled into one build of the last commit, in FOLDER, which is made: each line decides by the environment variable
ONE_TOKEN, its change's number, whether it is as written or changed. So there is one build, and for each change one run
of the tests of its package, then, if these pass, of all other tests, up to the first failure. Changes that do not
compile are left out. A change of an earlier report is `gone` if its file has no line, or several lines, of its text.
A report, REPORT.json in FOLDER, is written after every change; it has the text of each changed line.
The changes of a package whose tests fail without a change are not judged. A test that takes 600 s fails.
Exit codes: 0; 2 for bad arguments, or if the tree does not build.
"""
import argparse
import functools
import json
import os
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
TOKEN = re.compile(r"//.*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\d[\w.]*(?:(?<=[ep])[-+]\d\w*)?|<=>|"
                   r"->\*?|<<=?|>>=?|::|[-+*/%&|^=!<>]=|\+\+|--|&&|\|\||\S")
BINARY = "<>+-*/"  # have spaces around them; without, they are template brackets, signs or pointers
NO_CODE = re.compile(r"\s*(#|//|template\b|using\b|namespace\b|static_assert\b|constexpr\b|static constexpr\b)")
CONDITION = re.compile(r"\s*(?:\} )?(?:else )?(?:if|while) \((?!const\b|auto\b)")
FORMS = (re.compile(r"(\s*for \([^;]+; )([^;]+)(; .*)$"),
         re.compile(r"(\s*(?:const )?[\w:<>&*, ]+ [\w.]+ = )((?!\{|\[[&=\]]|\[this).*)(;)$"),
         re.compile(r"(\s*)((?:return |\+\+|--|[\w.:>\[\]-]+(?: [-+*/|&]?= |\(|\+\+|--)).*;)()$"))
SWITCH = """#pragma once
#include <cstdlib>
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused"
namespace one_token {
inline const int chosen = std::getenv("ONE_TOKEN") ? std::atoi(std::getenv("ONE_TOKEN")) : 0;
}
"""


def parts(line):
    """Yields (name, before, text, after) of the parts of a line that can be switched: a condition of `if`, `while` or
    `for`, the value of a variable, a statement."""
    found = CONDITION.match(line)
    if found:
        depth = 1
        for at in range(found.end(), len(line)):
            depth += (line[at] == "(") - (line[at] == ")")
            if depth == 0:
                yield "condition", line[:found.end()], line[found.end():at], line[at:]
                break
        return
    for name, form in zip(("condition", "value", "statement"), FORMS, strict=True):
        found = form.match(line)
        if found and all(found[2].count(a) == found[2].count(b) for a, b in ("()", "{}", "[]")):
            if name != "value" or not re.search(r", \w+ = ", found[2]):  # several variables
                yield name, *found.groups()
            return


def switched(line, number, column, token, by):
    """Returns the line that has the change if ONE_TOKEN is `number`; None if the change is in no part of `parts`."""
    for name, before, old, after in parts(line):
        at = column - len(before)
        if not 0 <= at < len(old):
            continue
        new = old[:at] + by + old[at + len(token):]
        chosen = f"one_token::chosen == {number}"
        if name == "statement":
            return f"{before}{{ if ({chosen}) {{ {new} }} else {{ {old} }} }}"
        whole = "bool" if name == "condition" else ""
        return f"{before}({chosen} ? {whole}({new}) : {whole}({old})){after}"
    return None


@functools.cache
def committed(name):
    """Returns the lines of a file in the last commit; none if it has no such file."""
    shown = subprocess.run(["git", "show", f"HEAD:{name}"], cwd=ROOT, capture_output=True, text=True)
    return shown.stdout.splitlines()


def sites(package):
    """Returns [(file, line number, column, token)] of all tokens of a package that can be changed."""
    command = ["git", "ls-tree", "-r", "--name-only", "HEAD", f"{package}/"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    found = []
    for name in names:
        if not name.endswith((".cpp", ".hpp")):
            continue
        for number, line in enumerate(committed(name)):
            if not NO_CODE.match(line):
                found += [(name, number, at.start(), at[0]) for at in TOKEN.finditer(line) if at[0] in REPLACED
                          and (at[0] not in BINARY or line[at.start() - 1] == line[at.end():at.end() + 1] == " ")
                          and switched(line, 1, at.start(), at[0], at[0])]
    return found


def drawn(package, count, rng):
    """Returns `count` random changes of a package, one a line: [{package, file, number, line, column, token, by}]."""
    changes, places = [], sites(package)
    while places and len(changes) < count:
        name, number, column, token = places.pop(rng.randrange(len(places)))
        if any((change["file"], change["number"]) == (name, number) for change in changes):
            continue
        line = committed(name)[number]
        changes.append({"package": package, "file": name, "number": number, "line": line, "column": column,
                        "token": token, "by": rng.choice(REPLACED[token])})
    return changes


def located(change):
    """Whether the change's line is in its file; sets the line's number there."""
    equal = [number for number, line in enumerate(committed(change["file"])) if line == change["line"]]
    if change["number"] not in equal:
        if len(equal) != 1:
            return False
        change["number"] = equal[0]
    return True


def write(changes, tree):
    """Writes the files of the changes into the tree, each line with its switch."""
    for name in {change["file"] for change in changes if change.get("outcome") != "gone"}:
        lines = list(committed(name))
        for change in changes:
            if change["file"] == name and "outcome" not in change:
                lines[change["number"]] = switched(change["line"], change["id"], change["column"], change["token"],
                                                   change["by"])
        text = f'#include "{tree.parent / "one_token.hpp"}"\n#line 1\n' + "\n".join(lines) + "\n"
        if (tree / name).read_text() != text:
            (tree / name).write_text(text)


def build(changes, tree, log):
    """Builds the tree with all changes. Changes at whose lines the compiler reports something are marked `not
    compiled`. Returns whether the rest builds."""
    setup = ["cmake", "--preset", "default", "-DDRAFTPROOF_CUDA=OFF"]
    if subprocess.run(setup, cwd=tree, stdout=log, stderr=log).returncode:
        return False
    while True:
        write(changes, tree)
        command = ["cmake", "--build", "build/default", "--", "-k0"]
        made = subprocess.run(command, cwd=tree, capture_output=True, text=True)
        log.write(made.stdout)
        log.flush()
        if made.returncode == 0:
            return True
        told = set(re.findall(r"([\w./-]+):(\d+):\d+: ", made.stdout))
        told = {(os.path.relpath(os.path.realpath(tree / "build/default" / name), tree), int(line))
                for name, line in told}
        wrong = [change for change in changes
                 if "outcome" not in change and (change["file"], change["number"] + 1) in told]
        if not wrong:
            return False
        for change in wrong:
            change["outcome"] = "not compiled"


def passes(change, tree, chosen, log):
    """Whether the tests that ctest chooses by `chosen` pass with the change (None: without one)."""
    command = ["ctest", "--test-dir", "build/default", "-j2", "--stop-on-failure", "--timeout", "600", *chosen]
    number = str(change["id"] if change else 0)
    return subprocess.run(command, cwd=tree, stdout=log, stderr=log,
                          env={**os.environ, "ONE_TOKEN": number, "OMP_WAIT_POLICY": "passive"}).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder that does not exist or is empty")
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=" ".join(PACKAGES))
    parser.add_argument("--each", type=int, default=10, help="changes of a package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--changes", type=Path, help="an earlier report, whose changes are made again")
    parser.add_argument("--quick", action="store_true", help="only the tests of the change's package")
    given = parser.parse_intermixed_args()  # PACKAGE may stand after the options
    if given.each < 1 or set(given.packages) - set(PACKAGES):
        parser.error(f"got {given.each} of {given.packages}, expected at least 1 of {' '.join(PACKAGES)}")
    if given.folder.exists() and any(given.folder.iterdir()):
        parser.error(f"{given.folder}: got a folder with files, expected an empty one")
    rng = random.Random(given.seed)
    if given.changes:
        changes = [{name: value for name, value in change.items() if name != "outcome"}
                   for change in json.loads(given.changes.read_text())]
    else:  # half as many again, for those that do not compile
        changes = [change for package in given.packages or PACKAGES
                   for change in drawn(package, given.each + (given.each + 1) // 2, rng)]
    for number, change in enumerate(changes, 1):
        change["id"] = number
        change.setdefault("package", change["file"].split("/")[0])  # reports of 0.2 lack it
        if not located(change) or not switched(change["line"], number, change["column"], change["token"], change["by"]):
            change["outcome"] = "gone"
    tree = given.folder.resolve() / "tree"
    tree.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "clone", "-q", ROOT, tree], check=True)
    (tree.parent / "one_token.hpp").write_text(SWITCH)
    taken = Counter()
    with open(tree.parent / "log.txt", "w") as log:
        if not build(changes, tree, log):
            print("the tree does not build: see", log.name, file=sys.stderr)
            return 2
        for package in dict.fromkeys(change["package"] for change in changes):
            if not passes(None, tree, ["-R", rf"^{package}\."], log):
                print(f"tests of {package} fail without a change, or take too long: see", log.name, file=sys.stderr)
                for change in changes:
                    if change["package"] == package:
                        change["outcome"] = change.get("outcome", "not judged")
        for change in changes:
            own = rf"^{change['package']}\."
            if "outcome" in change or (not given.changes and taken[change["package"]] == given.each):
                continue
            taken[change["package"]] += 1
            start = time.monotonic()
            if not passes(change, tree, ["-R", own], log):
                change["outcome"] = "killed"
            elif not given.quick and not passes(change, tree, ["-E", own], log):
                change["outcome"] = "killed by another package"
            else:
                change["outcome"] = "survived"
            print(f"{change['id']} {change['outcome']} in {time.monotonic() - start:.0f} s: {change['file']}:"
                  f"{change['number'] + 1}: {change['token']} -> {change['by']}: {change['line'].strip()}", flush=True)
            (tree.parent / "REPORT.json").write_text(json.dumps(changes, indent=1) + "\n")
    (tree.parent / "REPORT.json").write_text(json.dumps(changes, indent=1) + "\n")
    print(dict(Counter(change.get("outcome", "not taken") for change in changes)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
