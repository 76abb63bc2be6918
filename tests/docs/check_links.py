"""Checks the pages: every relative link and anchor of README, CONTRIBUTING, CHANGELOG and docs exists, every file
that a span of code names by its path from the root exists, code after a comment `<!-- file PATH -->` is in that file,
and in a table whose last column is `test`, each row names tests that exist.

    check_links.py [ROOT]
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from markdown import ROOT, anchors, links, pages, spans, split
from typed import NAMED as WRITTEN

NAMED = re.compile(r"([a-z_]+/[\w./-]+\.(?:hpp|cpp|cu|cuh|h|c|py|md|json|npz|bin|cmake|sh|svg|txt))(?:[: ].*)?$")
SHOWN = re.compile(r"^<!-- file (\S+) -->\n\n```\w*\n(.*?)^```", re.M | re.S)
#: Placeholders in tables that show which files a reader can add.
EXAMPLE = re.compile(r"\b(my_|NAME|FOLDER|GROUP|FAMILY)")


def has_test(root, name):
    """Whether a test exists: FILE.py::FUNCTION, Suite.Name of googletest, or cli.NAME of CTest."""
    def found(folder, pattern, text):
        return any(re.search(text, file.read_text(errors="replace"), re.M) for file in (root / folder).rglob(pattern))

    file, _, function = name.partition("::")
    if function:
        return found("python/tests", file, rf"^def {function}\(")
    if name.startswith("cli.outside."):
        return (root / f"tests/cli/outside/{name.removeprefix('cli.outside.')}_test.py").exists()
    if name.startswith("cli."):
        return found("tests/cli/cases", "*.txt", rf"^{name.removeprefix('cli.')}_?:")
    suite, _, test = name.partition(".")
    return found("tests", "*.cpp", rf"^(?:TYPED_)?TEST(?:_F|_P)?\({suite}, {test}\)")


def without_tests(root, prose):
    """Returns (number of tests, faults) of the tables of a page whose last column is `test`."""
    seen, wrong, inside, last = 0, [], False, 0
    for line, text in prose:
        inside = text.startswith("|") and ((inside and line == last + 1) or text.endswith("| test |"))
        last = line
        if not inside or text.endswith(("| test |", "| --- |")):
            continue
        names = re.findall(r"`([^`]+)`", re.search(r"\|([^|]*)\|$", text)[1])
        seen += len(names)
        wrong += [(line, f"got the test `{name}`, expected one of that name")
                  for name in names if not has_test(root, name)]
        if not names:
            wrong.append((line, "got a row without a test, expected its name in the last column"))
    return seen, wrong


def mistakes(root):
    """Returns (number of links and names, list of faults)."""
    wrong, seen = [], 0
    parts = {page.resolve(): split(page.read_text())[1] for page in pages(root)}
    folders = {entry.name for entry in root.iterdir() if entry.is_dir()} - {"build"}
    for page, prose in parts.items():
        name = page.relative_to(root.resolve())
        for line, target in links(prose):
            if re.match(r"[a-z]+:", target):
                continue
            seen += 1
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                wrong.append(f"{name}:{line}: got a link to {target}, expected a file there")
            elif anchor and (file not in parts or anchor not in anchors(parts[file])):
                wrong.append(f"{name}:{line}: got a link to {target}, expected a heading of that name")
        for match in SHOWN.finditer(page.read_text()):
            seen += 1
            file = root / match[1]
            text = file.read_text() if file.exists() else ""
            if match[2] not in text:
                wrong.append(f"{name}: got code of {match[1]} that is not there:\n{match[2]}")
        if page.name == "CHANGELOG.md":
            continue  # the changelog names files of earlier releases
        count, faults = without_tests(root, prose)
        seen += count
        wrong += [f"{name}:{line}: {fault}" for line, fault in faults]
        written = {match[1] for _, text in prose if (match := WRITTEN.search(text))}  # files that the reader writes
        for line, span in spans(prose):
            match = NAMED.match(span)
            if match and match[1] not in written and match[1].split("/")[0] in folders and not EXAMPLE.search(match[1]):
                seen += 1
                if not (root / match[1]).exists():
                    wrong.append(f"{name}:{line}: got the name `{match[1]}`, expected a file of that name")
    return seen, wrong


def main():
    seen, wrong = mistakes(pathlib.Path(sys.argv[1]) if sys.argv[1:] else ROOT)
    print(f"{seen} links and names, {len(wrong)} mistakes")
    print("\n".join(wrong))
    return 1 if wrong or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
