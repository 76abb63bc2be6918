"""docs/findings/README.md, written from the pages beside it: bugs of engines with their states upstream, and other
findings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from draftproof.engines.engine import Missing
from draftproof.engines.pages import cell
from draftproof.files import replaceable

HEAD = """# Findings

Bugs that the gate found in released engines, and results on schemes. [engines.md](../engines.md) has the verdicts of
all engines and the form of these pages; bugs of packages are in [census.md](../census.md). This page is written by

<!-- commands
* | needs this page, which it writes
-->

    python -m draftproof engines --write-docs

from the pages beside it.

## By engine

*Class* names the mutants that have the same kind of bug ([mutants.md](../mutants.md)). *State upstream* is the first
sentence of a page's last section, which says what was searched. It is as of the day of the search.
"""
OTHERS = """## Other findings

On schemes, couplings and published claims.
"""
#: The first sentence of a section Upstream.
STATE = re.compile(
    r"No report\b.*? was found\b|Reported: [\w.-]+/[\w.-]+#\d+, (open|closed)\b"
    r"|Fixed: [\w.-]+/[\w.-]+#\d+, in \S|By design\b"
)
STATES = (
    "'No report was found.', 'Reported: OWNER/NAME#NUMBER, open.' or closed, 'Fixed: OWNER/NAME#NUMBER, in VERSION.' "
    "or 'By design.'"
)
#: A name and a version or commit, at the start of the line `Version:` or after a comma of the line `Versions:`.
VERSION = r"([\w.+-]+),? (commit [0-9a-f]+|\d[\w.]*\w)"


@dataclass(frozen=True)
class Finding:
    """The facts of a page docs/findings/engine-*.md that the table shows."""

    page: str
    title: str
    versions: tuple[tuple[str, str], ...]
    mutants: tuple[str, ...]
    state: str


def write_page(base: Path) -> Path:
    """Writes docs/findings/README.md under `base`. Returns its path. Raises: Missing if a page has another form"""
    folder = base / "docs" / "findings"
    rows = [
        (name.casefold(), f"| {name} | {version} | {_link(one.title, one.page)} | {_class(one)} | {cell(one.state)} |")
        for one in map(read, sorted(folder.glob("engine-*.md")))
        for name, version in one.versions
    ]
    table = ["| engine | version | finding | class | state upstream |", "|---|---|---|---|---|"]
    out = [HEAD, *table, *(row for _, row in sorted(rows, key=lambda row: row[0])), "", OTHERS]
    for path in sorted(folder.glob("*.md")):
        if path.name != "README.md" and not path.name.startswith("engine-"):
            out.append(f"- {_link(_title(path.read_text()), path.name)}")
    page = replaceable(folder / "README.md")
    page.write_text("\n".join(out).rstrip() + "\n")
    return page


def read(path: Path) -> Finding:
    """Returns the row of a page. Raises: Missing if the page has no version, no section Upstream or no state"""
    text = path.read_text()
    paragraph = re.search(r"^(Versions?:) .+(?:\n.+)*", text, re.MULTILINE)
    told, several = (" ".join(paragraph[0].split()), paragraph[1] == "Versions:") if paragraph else ("", False)
    versions = re.findall(rf"(?:^Versions:|,) {VERSION}" if several else rf"^Version: {VERSION}", told)
    if not versions:
        got = repr(paragraph[0].partition("\n")[0]) if paragraph else "no line 'Version:'"
        line = text.count("\n", 0, paragraph.start()) + 1 if paragraph else 1
        raise Missing(f"{path}:{line}: got {got}, expected 'Version: ENGINE VERSION' or 'Version: ENGINE, commit HASH'")
    before, _, section = text.rpartition("\n## ")
    heading, _, upstream = section.partition("\n")
    line = before.count("\n") + 2 if before else 1
    if heading != "Upstream":
        got = f"the last section {heading!r}" if before else "no section"
        raise Missing(f"{path}:{line}: got {got}, expected a last section '## Upstream' that begins with {STATES}")
    sentence = re.match(r".*?\.(?= |$)", " ".join(upstream.split()))
    if sentence is None or not STATE.match(sentence[0]):
        got = repr(sentence[0]) if sentence else "no sentence"
        raise Missing(f"{path}:{line}: got {got} in section Upstream, expected {STATES} first")
    mutants = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\*Mutants?\.\*.*(?:\n.+)*", text, re.MULTILINE)))
    return Finding(path.name, _title(text), tuple(versions), tuple(dict.fromkeys(mutants)), sentence[0])


def _title(text: str) -> str:
    return text.partition("\n")[0].lstrip("# ").strip()


def _link(title: str, page: str) -> str:
    return f"[{cell(title)}]({page})"


def _class(finding: Finding) -> str:
    return ", ".join(f"`{name}`" for name in finding.mutants)
