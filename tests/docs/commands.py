"""Reads the commands of a page, and the marks that control how a test runs each command.

A command is a line of a block that begins with a program, or a line after `$ ` in a block that shows output; `\\` and
`|` at the end continue it. Two blanks or ` #` end it; the rest of the line is a remark. A comment before the block
gives information that the command lacks:

    <!-- commands
    draftproof check | exit 1
    draftproof mutants | with --instances 5
    draftproof check --device | needs a CUDA device
    * | nightly
    -->

Each line has the beginning of its commands, or `*` for all commands of the block; the longest match applies. After
`|` it has marks, separated by `;`:

    exit N[,M]      the expected exit codes; by default 0, and 1 for a replay line in shown output
    with OPTIONS    takes minutes: the quick set adds these options, or replaces options of the same name
    nightly         takes minutes: the quick set omits it
    needs WHAT      is not run, because WHAT is missing
    by TEST         another test of CTest runs it
"""
import re
import shlex
from dataclasses import dataclass, field

from markdown import split

PROGRAMS = {"draftproof", "./dev", "cmake", "ctest", "cc", "rustc", "pip", "pytest", "python", "python3", "echo",
            "auditwheel"}
SHELLS = {"sh", "bash", "shell", "console"}
LOOKS_LIKE_ONE = re.compile(r"\s*(\$ )?(draftproof|\./dev) [a-z]")
SHOWN = re.compile(r"\s*(?:replay|again): (draftproof .*)")


class Mistake(Exception):
    """A fault of a page, with its line."""


@dataclass
class Command:
    line: int
    text: str
    exits: list = field(default_factory=lambda: [0])
    options: str = ""    # options that the quick set adds or replaces
    nightly: bool = False
    needs: str = ""
    by: str = ""

    def quick(self):
        """Returns the command as the quick set runs it."""
        text = self.text
        words = shlex.split(self.options)
        while words:
            name, values = words.pop(0), []
            while words and not words[0].startswith("-"):
                values.append(words.pop(0))
            new = " ".join([name, *map(shlex.quote, values)])
            text, count = re.subn(rf"(?<!\S){re.escape(name)}(?:[ =](?!-)\S+)?(?!\S)", lambda _, new=new: new, text)
            if count == 0:
                text += " " + new
        return text


def first_program(line):
    """Returns the first word of a command after assignments such as A=b."""
    words = line.removeprefix("$ ").split()
    while words and re.match(r"\w+=", words[0]):
        words.pop(0)
    return words[0] if words else ""


def is_program(word):
    return word in PROGRAMS or word.startswith(("build/", "env/bin/"))


def without_remark(line):
    """Returns the line up to two blanks or ` #` outside quotes."""
    quote = None
    for at, letter in enumerate(line):
        if quote:
            quote = None if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif line.startswith("  ", at) or line.startswith(" #", at):
            return line[:at]
    return line


def lines_of(block):
    """Returns [line number, command, whether it is a replay line] of a block, with continued lines joined."""
    code = [(block.line + at, line) for at, line in enumerate(block.lines)]
    shows_output = any(line.startswith("$ ") for line in block.lines)
    joined, more = [], False
    for number, line in code:
        if not (more or line.startswith("$ ") or (not shows_output and line.strip())):
            match = SHOWN.match(line)
            if match:
                joined.append([number, match[1], True])
            continue
        text = without_remark(line.removeprefix("$ ").strip())
        if more:
            joined[-1][1] += " " + text
        else:
            joined.append([number, text, False])
        more = text.endswith(("\\", "|"))
        joined[-1][1] = joined[-1][1].removesuffix("\\").strip()
    return joined


def apply(mark, command):
    for what in mark.split(";"):
        word, _, rest = what.strip().partition(" ")
        if word == "exit":
            command.exits = [int(code) for code in rest.split(",")]
        elif word == "with":
            command.options = rest
        elif word == "nightly":
            command.nightly = True
        elif word == "needs" and rest:
            command.needs = rest
        elif word == "by" and rest:
            command.by = rest
        else:
            raise Mistake(f"{command.line}: got the mark \"{what.strip()}\", expected exit, with, nightly, needs or by")


def commands(text):
    """Returns the commands of a page in order, and its prose. Throws Mistake."""
    found = []
    blocks, prose = split(text)
    for block in blocks:
        first = next((line for line in block.lines if line.strip()), "")
        shell = block.language in SHELLS or (block.language == "" and is_program(first_program(first)))
        shell = shell or any(line.startswith("$ ") for line in block.lines)
        mine = []
        if shell:
            mine = [Command(number, line, [1] if shown else [0]) for number, line, shown in lines_of(block)]
        else:
            for at, line in enumerate(block.lines):
                if LOOKS_LIKE_ONE.match(line) and block.language == "":
                    raise Mistake(f"{block.line + at}: a command in a block that begins with none")
                if SHOWN.match(line):
                    mine.append(Command(block.line + at, SHOWN.match(line)[1], [1]))
        unused = set()
        marks = [[part.strip() for part in mark.partition("|")[::2]] for mark in block.marks]
        for command in mine:
            fitting = [mark for mark in marks if mark[0] == "*" or command.text.startswith(mark[0])]
            if fitting:
                best = max(fitting, key=lambda mark: -1 if mark[0] == "*" else len(mark[0]))
                apply(best[1], command)
                unused.add(best[0])
        for prefix, _ in marks:
            if prefix not in unused:
                raise Mistake(f"{block.line}: the mark of \"{prefix}\" fits no command of the block after it")
        found += mine
    return found, prose
