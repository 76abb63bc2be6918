"""Runs the commands that README, CONTRIBUTING and docs show, and checks the exit codes that they state (commands.py).

    run_commands.py quick|nightly PROGRAM CTEST BUILD [PAGE...]     all pages if none is named

Each page is run in a separate folder, with links to the source tree and with the files that pages use without making
them: captures named run.npz and trees.npz, results named old.json and new.json, verifiers named mine and libmine.so.
The last lines count the commands that ran and print why others did not. Commands of ./dev must be verbs of its help,
and `./dev run` runs the program. typed.py runs tutorials.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import commands as of_page
from markdown import ROOT, pages, spans

#: Files that commands of the pages read, although no command writes them, each with the file to which the test links
#: its name.
FILES = {
    "run.npz": "data/stories512_positions.npz", "run.json": "data/stories512.json",
    "trees.npz": "data/stories512_trees.npz", "trees.json": "data/stories512.json",
    "run.safetensors": "tests/golden/traces/whole.safetensors",
    "old.json": "tests/report/results/survey.json", "new.json": "tests/report/results/survey.json",
    "prove.json": "tests/report/results/prove.json", "mutants.json": "tests/report/results/mutants.json",
}
INPUTS = {"inputs": [{"p": [[0.5, 0.5], [0.5, 0.5]], "q": [[0.25, 0.75]], "drafts": [1]}]}


def has_numpy(python):
    """Whether the interpreter `python` has NumPy, which the programs of examples/adapter need."""
    asked = [python, "-c", "import numpy"]
    return pathlib.Path(python).exists() and subprocess.run(asked, capture_output=True, check=False).returncode == 0


def prepare(folder, program, text):
    """Makes the folder in which a page with this text runs."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "draftproof").symlink_to(program)
    for entry in ROOT.iterdir():
        if entry.name not in ("build", ".git", "bin"):
            (folder / entry.name).symlink_to(entry)
    for name, target in FILES.items():
        (folder / name).symlink_to(ROOT / target)
    python = next((one for one in (sys.executable, "/usr/bin/python3") if has_numpy(one)), sys.executable)
    (folder / "bin" / "python3").write_text(f'#!/bin/sh\nexec {python} "$@"\n')
    (folder / "bin" / "python3").chmod(0o755)
    (folder / "inputs.json").write_text(json.dumps(INPUTS))
    mine = (ROOT / "examples/adapter/verifier_frames.py").read_text().replace('"name": "token_path"', '"name": "mine"')
    for name in ("mine", "mine.py"):
        (folder / name).write_text(mine)
        (folder / name).chmod(0o755)
    if "libmine.so" in text:
        subprocess.run(["cc", "-std=c11", "-shared", "-fPIC", "-I", ROOT / "include", ROOT /
        "examples/adapter/verifier.c",
                        "-o", folder / "libmine.so"], check=True)


class Words:
    """The commands and options of the program and of ./dev, read once from their help."""

    def __init__(self, program):
        self.program, self.options = program, {}
        self.general = self.help()
        listed = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
        self.commands = set(re.findall(r"^  ([a-z][a-z-]*)  ", listed.partition("Subcommands:")[2], re.M))
        usage = subprocess.run(["sh", str(ROOT / "dev"), "help"], capture_output=True, text=True, check=True).stdout
        self.verbs = set(re.findall(r"^  ([a-z]+)\b", usage, re.M))

    def help(self, *words):
        run = subprocess.run([self.program, *words, "--help"], capture_output=True, text=True, check=False)
        return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", run.stdout))

    def wrong(self, text):
        """Returns an unknown command, verb or option in the text of a command, or ""."""
        words = text.split()
        if words[:2] == ["draftproof", "plan"]:
            del words[1]  # the words after `plan` are a complete command
        if words[:1] == ["./dev"]:
            return "" if len(words) == 1 or words[1] in self.verbs else f"./dev has no verb {words[1]}"
        if words[:1] != ["draftproof"] or len(words) == 1 or re.match(r"my_|[A-Z]|-", words[1]):
            return ""
        if words[1] not in self.commands:
            return f"draftproof has no command {words[1]}"
        path = words[1:3] if words[1] == "bench" and words[2:3] in (["report"], ["compare"]) else words[1:2]
        key = " ".join(path)
        if key not in self.options:
            self.options[key] = self.help(*path)
        unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", "", text)
        for option in re.findall(r"(?<!\S)(--[a-z][\w-]*|-[a-zA-Z])(?![\w])", unquoted):
            if option not in self.options[key] | self.general:
                return f"draftproof {key} has no option {option}"
        return ""


def run(text, folder, limit):
    """Returns (exit code, output) of a command in a folder; the exit code is None after the time limit."""
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    try:
        done = subprocess.run(["sh", "-c", text], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit, check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return None, f"still running after {limit} s"


def why_not(command, text, nightly):
    """Returns the reason why the set does not run a command; "" if it runs the command."""
    if command.needs:
        return f"needs {command.needs}"
    if command.by and not (nightly and text.startswith("draftproof")):
        return f"run by {command.by}"
    if command.nightly and not nightly:
        return "takes minutes: ctest -C nightly"
    return "sets up or builds the tree: the verb is known" if text.startswith("./dev") else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("set", choices=["quick", "nightly"])
    for name in ("program", "ctest", "build"):
        parser.add_argument(name)
    parser.add_argument("page", nargs="*")
    asked = parser.parse_intermixed_args()
    nightly = asked.set == "nightly"
    program, ctest, build = str(pathlib.Path(asked.program).resolve()), asked.ctest, asked.build
    chosen = [ROOT / page for page in asked.page] or pages()
    words = Words(program)
    asked_tests = [ctest, "--test-dir", build, "-N", "-C", "nightly"]
    listed = subprocess.run(asked_tests, capture_output=True, text=True, check=True).stdout
    tests = set(re.findall(r"Test +#\d+: (\S+)", listed))
    failures, left, ran = [], {}, 0
    with tempfile.TemporaryDirectory(prefix="docs") as scratch:
        for page in chosen:
            name = str(page.relative_to(ROOT))
            folder = pathlib.Path(scratch) / re.sub(r"\W", "_", name)
            try:
                commands, prose = of_page.commands(page.read_text())
            except of_page.Mistake as mistake:
                failures.append(f"{name}:{mistake}")
                continue
            for line, span in spans(prose) if name != "CHANGELOG.md" else ():
                wrong = words.wrong(span)
                if wrong:
                    failures.append(f"{name}:{line}: {wrong}: `{span}`")
            for command in commands:
                place = f"{name}:{command.line}"
                wrong = words.wrong(command.text)
                if command.by and command.by not in tests:
                    wrong = f"no test is called {command.by}"
                if wrong:
                    failures.append(f"{place}: {wrong}: {command.text}")
                    continue
                text = command.text if nightly else command.quick()
                text = text.replace("./dev run ", "draftproof ", 1).replace("my_scheme", "k_seq")
                reason = why_not(command, text, nightly)
                if reason:
                    left.setdefault(reason, []).append(f"{place}: {command.text}")
                    continue
                if not folder.exists():
                    prepare(folder, program, page.read_text())
                began = time.monotonic()
                code, output = run(text, folder, 3600 if nightly else 300)
                ran += 1
                print(f"{place}: {time.monotonic() - began:.1f} s, exit {code}: {text}", flush=True)
                if code not in command.exits:
                    wanted = " or ".join(map(str, command.exits))
                    failures.append(f"{place}: exit code {code}, expected {wanted}: {text}\n" + output[-2000:])
            if folder.exists():
                shutil.rmtree(folder)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    for reason, those in sorted(left.items()):
        print(f"\nnot run, {reason}:")
        for command in those:
            print(f"  {command}")
    print(f"\n{ran} commands of {len(chosen)} pages ran in {used.ru_utime + used.ru_stime:.0f} s of processor time, "
          f"{sum(map(len, left.values()))} did not, {len(failures)} mistakes")
    for failure in failures:
        print(f"\n{failure}")
    return 1 if failures or (ran == 0 and not asked.page) else 0


if __name__ == "__main__":
    sys.exit(main())
