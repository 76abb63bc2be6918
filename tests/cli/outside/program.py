"""Reads the program's commands and options from its help, so that tests need no list of them; and runs the program
with a time limit.
"""

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

PROGRAM = os.path.abspath(sys.argv[1])
NIGHTLY = sys.argv[2:] == ["nightly"]  # more inputs
CODES = {0, 1, 2, 3, 4, 77}
#: SHORT has values of options that make a run short; ARGUMENTS has values of positional arguments, by their name in the
#: help.
SHORT = {"--tuples": "1000", "--instances": "1", "--steps": "100", "--controls": "1", "--further": "0", "--effort": "16",
         "--repetitions": "1", "--min-time": "1e-6", "--branches": "1000", "--profile": "quick"}
ARGUMENTS = {"verifier": "single_draft", "source": "zipf:vocabulary=5", "name": "k_seq", "filter": "^optimum/small/",
             "study": "order_of_schemes"}
#: Options that make a run short, for commands that otherwise run many verifiers.
FEWER = {"check": ["--tier", "edge"], "survey": ["--verifier", "k_seq"], "survey-paths": ["--verifier", "ladder_tree"]}


@dataclass
class Option:
    name: str  # "--tuples", or the name of an argument
    kind: str  # INT, UINT, FLOAT, TEXT, OUT_FILE for an output file, or "" for an option without a value
    listed: bool  # whether it takes several values
    required: bool = False
    most: str = ""  # the largest value that the help allows


@dataclass
class Command:
    words: list  # ["bench", "compare"]
    options: list = field(default_factory=list)
    arguments: list = field(default_factory=list)
    commands: list = field(default_factory=list)


@dataclass
class Ran:
    words: list
    code: int
    out: bytes
    err: bytes
    measured: bool = False  # whether equal runs have different output, because it contains measured times

    def told(self):
        return f"draftproof {' '.join(word if len(word) < 80 else word[:60] + '...' for word in self.words)}\n" \
               f"  exit code {self.code}\n  out: {self.out[:300]!r}\n  err: {self.err[:600]!r}"


def run(words, limit=60, program=PROGRAM, **more):
    """Runs the program once. If it exceeds the limit in seconds it is killed, which gives exit code -9."""
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    child = subprocess.Popen([program, *words], start_new_session=True, **more)
    try:
        out, err = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
    return Ran([os.fsdecode(word) for word in words], child.returncode, out or b"", err or b"")


def read_help(words=()):
    """Returns the command that is called with `words`, and all its subcommands."""
    command = Command(list(words))
    section = ""
    for line in run([*words, "--help"]).out.decode().splitlines():
        if re.match(r"\w+:$", line):
            section = line[:-1]
        entry = re.match(r"  (\S+)(?: (INT|UINT|FLOAT|TEXT|OUT_FILE)(\S*))?(.*)", line)
        if not entry or line.startswith("   "):
            continue
        names, kind, _, rest = entry.groups()
        option = Option(names.split(",")[-1], kind or "", " ... " in rest + " ", " REQUIRED" in rest,
                        (re.findall(r":from \S+ to ([^=\s]+)", line) or [""])[0])
        if section == "Options" and option.name not in ("--help", "--version"):
            command.options.append(option)
        elif section == "Positionals":
            command.arguments.append(option)
        elif section == "Subcommands":
            command.commands.append(read_help([*words, names]))
    return command


def every_command(command=None):
    """Yields all commands, the program itself first."""
    command = command or read_help()
    yield command
    for sub in command.commands:
        yield from every_command(sub)


def usual_words(command):
    """Returns the command-line words for a short run of the command."""
    words = list(command.words)
    for argument in command.arguments:
        words.append(ARGUMENTS.get(argument.name, "no_such_file"))
    for option in command.options:
        if option.name in SHORT:
            words += [option.name, SHORT[option.name]]
    return words + FEWER.get(words[0] if words else "", [])


def in_parallel(call, all_of):
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        return list(pool.map(call, all_of))


def finish(tried, wrong):
    """Prints the text `tried` and the wrong runs, and ends the test with exit code 0 or 1."""
    print(tried)
    for one in wrong[:20]:
        print(one)
    if wrong:
        print(f"{len(wrong)} wrong")
    sys.exit(1 if wrong else 0)
