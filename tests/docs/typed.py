"""Types a tutorial into an empty folder: writes the files that the page names and runs its commands there, in order.

    typed.py TEST PAGE [NAME=VALUE...]

TEST is the name that `by` has in marks. NAME=VALUE replaces a placeholder of commands, as in DIR=/opt/draftproof.

The paragraph before a block of code ends with the name of its file: "`mine.py`:" writes the file, "To the end of
`mine.py`:" adds to it. Commands and their marks have the form of commands.py. The tutorial begins with the first file
and ends with the heading "## More" or a comment `<!-- tutorial ends -->`. A block without a name and without commands
is the output of the commands before it, which must have each of its lines; `..` in a line stands for any text.
"""
import pathlib
import re
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import commands as of_page
import markdown
from run_commands import run

NAMED = re.compile(r"`([\w./-]+)`[^`]*:$")
ENDS = re.compile(r"^(## More|<!-- tutorial ends -->)$", re.M)
CODE = {"python", "cmake", "cpp", "c", "rust", "yaml"}


def steps(text):
    """Returns the steps of a page: ("write" or "add", name, lines), ("run", command), ("output", lines). Throws
    commands.Mistake for a block of code without a file."""
    text = ENDS.split(text)[0]
    listed, _ = of_page.commands(text)
    blocks, prose = markdown.split(text)
    found, last = [], 0
    for block in blocks:
        before = [line for number, line in prose if last <= number < block.line and not line.startswith("<!--")]
        named = NAMED.search(before[-1]) if before else None
        last = block.line + len(block.lines)
        here = [command for command in listed if block.line <= command.line < last]
        language = block.language.split(" ")[0]
        first = next((line for line in block.lines if line.strip()), "")
        if language in CODE and named:
            adds = re.search(r"end of `[^`]+`[^`]*:$", " ".join(before[-2:]))
            found.append(("add" if adds else "write", named[1], block.lines))
        elif language in CODE and found:
            raise of_page.Mistake(f"{block.line}: got code that no file takes, expected `NAME`: before it")
        elif found and (language in of_page.SHELLS or of_page.is_program(of_page.first_program(first))):
            found += [("run", command) for command in here]
            if first.startswith("$ "):
                found.append(("output", [line for line, before in zip(block.lines, ["", *block.lines])
                                         if not line.startswith("$ ") and not before.endswith(("\\", "|"))]))
        elif found and found[-1][0] == "run":
            found.append(("output", block.lines))
    return found


def lacks(output, lines):
    """Returns the members of `lines` that the output lacks."""
    there = re.sub(r"[ \t]+", " ", output)
    shown = [(line, ".*".join(map(re.escape, " ".join(line.split()).split("..")))) for line in lines]
    return [line for line, pattern in shown if not re.search(pattern, there)]


def type_page(page, values, folder, test, limit=600):
    """Types a page as the test `test`, which runs the commands marked `by` this test and the commands without this
    mark. Returns (number of files and commands, list of faults) and prints each command with its time."""
    wrong, count, output, shown = [], 0, "", True
    for kind, *of in steps(page.read_text()):
        if kind == "output":
            wrong += [f"got an output without the line {line.strip()!r}:\n{output}"
                      for line in lacks(output, of[0]) if shown]
            output, shown = "", True
            continue
        if kind == "run":
            command = of[0]
            if command.needs or command.by not in ("", test):
                continue
            text = command.quick()
            for name, value in values.items():
                text = re.sub(rf"\b{name}\b", lambda _, value=value: value, text)
            began = time.monotonic()
            code, said = run(text, folder, limit)
            output, shown = output + said, shown and not command.options
            print(f"{page.name}:{command.line}: {time.monotonic() - began:.1f} s, exit {code}: {text}", flush=True)
            if code not in command.exits:
                wrong.append(f"{command.line}: exit code {code}, expected {command.exits}: {text}\n{said[-3000:]}")
        else:
            output, shown, file = "", True, folder / of[0]
            file.parent.mkdir(parents=True, exist_ok=True)
            with open(file, "w" if kind == "write" else "a") as to:
                to.write("\n".join(of[1]) + "\n")
        count += 1
    return count, wrong


def main():
    page, values = pathlib.Path(sys.argv[2]), dict(word.split("=", 1) for word in sys.argv[3:])
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="typed") as folder:
        count, wrong = type_page(page, values, pathlib.Path(folder), sys.argv[1])
    print("\n".join(wrong))
    print(f"{page.name}: {count} files and commands in {time.monotonic() - began:.0f} s, {len(wrong)} mistakes")
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
