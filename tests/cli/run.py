"""Runs the cases of cases/*.txt, logic.py and terminals.py, which check exit code, standard output and standard error.

    run.py PROGRAM FAKES FILES WORK [CASE...]

FAKES is the program with simulated devices (fake_devices.cpp), FILES a folder of bad and good captures, WORK a folder
for the files of the cases. All cases run if none is named. In a table a line without indent begins a case:

    name: What it checks.
      word = text                 `$word` is the text in later lines; PROGRAM, FAKES, FILES, SOURCE and WORK are predefined
      2 prove nobody ~ nobody     runs the program in the case's folder, requires exit code 2 and a match on the stream
        !~ pattern                no match
        = approved                the output is approved/name.txt; DRAFTPROOF_APPROVE=1 rewrites that
        = same                    the output equals that of the previous run
        mask pattern -> text      replaces text that changes from run to run, or when a property is added
        json gates.0.work pattern    the value at a path is all of a match; `#` is the length of a list
      $ cmp one two               a shell command, which must succeed; its output is checked like that of a run

The first `~`, `!~` or `=` may follow its run on the same line. The stream is standard error where the exit code is 2
or 4, else standard output. `{a|b}` in a run makes it one run for `a` and one for `b`, with all checks; `$1` is the
first such choice, and `= same` requires equal outputs. `{a|b}` in a pattern requires both. The match of a group
`(?P<word>...)` is `$word` in later lines. `.` also matches newlines. ` \\` at the end of a line continues it.

Every run must follow the rules of all commands: with exit code 2 (bad input) or 4 (failure) standard output is empty
and standard error has a message; with other exit codes standard error is empty; and only a terminal gets colour.
"""
import inspect
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "outside"))
import program

CHOICES = re.compile(r"\{([^{}]*\|[^{}]*)\}")


def alternatives(text):
    """Yields each text with one alternative of every `{a|b}` in `text`, and the chosen alternatives."""
    parts = CHOICES.split(text)
    for chosen in itertools.product(*(part.split("|") for part in parts[1::2])):
        parts[1::2] = chosen
        yield "".join(parts), chosen


class Wrong(Exception):
    """The failure of a case; the text contains the command that failed and its output."""


class Case:
    def __init__(self, name, work, **values):
        self.name, self.folder = name, pathlib.Path(work) / name
        self.values = {"SOURCE": str(HERE.parents[1]), "WORK": str(self.folder), **values}
        self.command = self.code = None
        self.out = self.err = self.before = ""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def fail(self, text):
        raise Wrong(f"{self.name}: {text}\ncommand: {self.command}\nexit code: {self.code}\n"
                    f"standard output:\n{self.out}\nstandard error:\n{self.err}")

    def fill(self, text, quote=str):
        """Returns the text with each `$word` replaced by its value. Raises: KeyError for an undefined word."""
        return re.sub(r"\$(\w+)", lambda word: quote(self.values[word[1]]), text)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def read(self, name):
        return (self.folder / name).read_text()

    def do(self, text):
        """Runs the commands and checks that lines of a table contain."""
        steps = []
        for line in map(str.strip, re.sub(r" \\\n +", " ", text).splitlines()):
            if re.match(r"(~|!~|=|mask|json) ", line):
                steps[-1][1].append(line)
            elif re.match(r"\d", line):
                line, *check = re.split(r" (?=(?:~|!~|=) )", line, maxsplit=1)
                steps.append((line, check))
            elif line and not line.startswith("#"):
                steps.append((line, []))
        for line, checks in steps:
            first, _, rest = line.partition(" ")
            if rest.startswith("= "):
                self.values[first] = self.fill(rest[2:])
                continue
            for number, (command, chosen) in enumerate([(rest, ())] if first == "$" else alternatives(rest)):
                self.values |= {str(place): choice for place, choice in enumerate(chosen, 1)}
                if first == "$":
                    self.shell(command)
                else:
                    self.run(int(first), command)
                if chosen and number == 0:
                    self.before = self.out
                for check in checks:
                    self.check(check)

    def shell(self, text):
        """Runs a shell command, which must succeed."""
        self.call("sh", ["-c", self.fill(text)])
        if self.code != 0:
            self.fail("expected exit code 0")

    def call(self, path, words):
        self.before, self.command = self.out, f"{path} {' '.join(words)}"
        ran = program.run(words, limit=300, program=path, cwd=self.folder)
        self.code, self.out, self.err = ran.code, ran.out.decode(), ran.err.decode()

    def run(self, wanted, text):
        """Runs the program with the words of `text`; requires exit code `wanted`. Returns standard output."""
        self.call(self.values["PROGRAM"], shlex.split(self.fill(text)))
        self.err = re.sub(r"(checking: [0-9]+ %|[a-z_]+: [0-9]+ %, [0-9]+ s left)\n", "", self.err)  # of slow runs
        if self.code != wanted:
            self.fail(f"expected exit code {wanted}")
        if wanted in (2, 4) and (self.out or not self.err):
            self.fail("bad input or failure: wanted a message on standard error and nothing on standard output")
        if wanted not in (2, 4) and self.err:
            self.fail("expected nothing on standard error")
        if "\x1b" in self.out + self.err:
            self.fail("expected no escape sequences")
        return self.out

    def check(self, line):
        kind, _, rest = line.partition(" ")
        if kind == "=":
            {"approved": self.approved, "same": self.same}[rest]()
        elif kind == "mask":
            pattern, text = re.split(" -> ?", rest)
            self.out = re.sub(pattern, text, self.out, flags=re.DOTALL)
        elif kind == "json":
            path, pattern = rest.split(" ", 1)
            value = json.loads(self.out)
            for key in path.split("."):
                value = len(value) if key == "#" else value[int(key) if isinstance(value, list) else key]
            text = value if isinstance(value, str) else json.dumps(value)
            if not re.fullmatch(self.fill(pattern, re.escape), text):
                self.fail(f"expected at {path}: {pattern}, found {text}")
        else:
            self.matches(rest, kind == "~")

    def matches(self, pattern, wanted=True, text=None):
        """Requires that every alternative of the pattern matches the text or, if not `wanted`, that no alternative
        matches. The default text is standard error after exit codes 2 and 4, else standard output."""
        if text is None:
            text = self.err if self.code in (2, 4) else self.out
        for one, _ in alternatives(self.fill(pattern, re.escape)):
            found = re.search(one, text, re.DOTALL)
            if bool(found) != wanted:
                self.fail(f"{'wanted' if wanted else 'not wanted'}: {one}")
            if found:
                self.values |= found.groupdict()

    def same(self):
        if self.out != self.before:
            self.fail(f"expected the output of the run before:\n{self.before}")

    def approved(self):
        # The last digits of logarithms and bounds of intervals depend on the mathematical library.
        got = re.sub(r"([0-9]\.[0-9]{8})[0-9]+", r"\1", self.out)
        file = HERE / "approved" / f"{self.name}.txt"
        if os.environ.get("DRAFTPROOF_APPROVE"):
            file.write_text(got)
        elif not file.exists():
            self.fail(f"nothing approved yet: run with DRAFTPROOF_APPROVE=1 and read {file}")
        elif got != file.read_text():
            self.write("received.txt", got)
            self.fail(f"differs from {file}; received: {self.folder / 'received.txt'}")


def all_cases():
    """Returns the function of each case, by name."""
    import logic
    import terminals

    functions = inspect.getmembers(logic, inspect.isfunction) + inspect.getmembers(terminals, inspect.isfunction)
    cases = {name.rstrip("_"): call for name, call in functions if name[0] != "_"}
    for table in sorted((HERE / "cases").glob("*.txt")):
        for name, lines in re.findall(r"^([a-z_]+):.*\n((?:[ \n].*\n?)*)", table.read_text(), re.M):
            cases[name] = lambda case, lines=lines: case.do(lines)
    return cases


def main():
    given = dict(zip(("PROGRAM", "FAKES", "FILES"), map(os.path.abspath, sys.argv[1:4])))
    cases, wrong = all_cases(), 0
    for name in sys.argv[5:] or cases:
        try:
            cases[name](Case(name, os.path.abspath(sys.argv[4]), **given))
        except Wrong as found:
            wrong += 1
            print(found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
