"""Checks the section "Three calls, file by file" of docs/design/README.md: every step names a function that its file
defines, and a call goes through at most 20 files.

    check_calls.py [ROOT]
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from markdown import ROOT, split

PAGE, SECTION, CALLS, MOST_FILES = "docs/design/README.md", "## Three calls, file by file", 3, 20
STEP = re.compile(r"\d+\. `([\w/]+\.(?:py|cpp|hpp))`: `(\w+)` \w")


def defines(text, name, python):
    """Whether `text` defines the function or type `name`. In C++ a body follows the parameters of a definition, but not
    a call or a declaration."""
    if python:
        return re.search(rf"^\s*(?:def|class) {name}\b", text, re.M) is not None
    function = rf"(?<![.>\w]){name}\((?:[^(){{}};]|\([^()]*\))*\)(?: const| override| final| noexcept)* \{{"
    return re.search(rf"{function}|\b(?:class|struct) {name}\b[^;()]*\{{", text) is not None


def mistakes(page, root):
    """Returns (number of steps, list of faults) of the text of a page."""
    steps, calls, inside = 0, {}, False
    wrong = []
    for line, text in split(page)[1]:
        if text.startswith("## "):
            inside = text == SECTION
        elif inside and text.startswith("### "):
            files = calls.setdefault(text, set())
        elif inside and re.match(r"\d+\.", text):
            step = STEP.match(text)
            if not step or not calls:
                wrong.append(f"{line}: got the step {text!r}, expected \"1. `FILE`: `FUNCTION` does ..\"")
                continue
            steps += 1
            file = root / step[1]
            files.add(step[1])
            if not file.is_file():
                wrong.append(f"{line}: got the file {step[1]}, expected one of the tree")
            elif not defines(file.read_text(), step[2], file.suffix == ".py"):
                wrong.append(f"{line}: got the function {step[2]}, expected one that {step[1]} defines")
    wrong += [f"{call}: got {len(files)} files, expected 1 to {MOST_FILES}" for call, files in calls.items()
              if not 1 <= len(files) <= MOST_FILES]
    if len(calls) != CALLS:
        wrong.append(f"got {len(calls)} calls in the section {SECTION!r}, expected {CALLS}")
    return steps, wrong


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1]) if sys.argv[1:] else ROOT
    steps, wrong = mistakes((root / PAGE).read_text(), root)
    print(f"{steps} steps, {len(wrong)} mistakes", *wrong, sep="\n")
    sys.exit(1 if wrong else 0)
