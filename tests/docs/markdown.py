"""Splits a Markdown page into the parts that tests of the docs read: blocks of code with the marks before them,
spans, headings, links."""
import pathlib
import re
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pages(root=ROOT):
    """Returns the pages under test, as paths below `root`."""
    names = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "data/README.md", "tests/golden/README.md")
    return [root / name for name in names if (root / name).exists()] + sorted(
        page for page in (root / "docs").rglob("*.md") if page.parent != root / "docs" / "site")


@dataclass
class Block:
    line: int                                   # number of the first line of code, from 1
    language: str                               # language after the fence; empty for an indented block
    lines: list = field(default_factory=list)   # lines of code without the indentation of the block
    marks: list = field(default_factory=list)   # lines of the comment `<!-- commands` before the block


def split(text):
    """Returns (blocks, prose): the blocks of code, and the other lines as (number, text). A comment of marks without
    a block after it becomes a block without lines."""
    blocks, prose, marks, fence, indented, comment = [], [], [], None, None, None
    previous_is_blank = True
    for number, line in enumerate(text.splitlines(), 1):
        if comment is not None:
            comment.append(line)
        elif fence is not None:
            if line.strip().startswith("```"):
                fence = None
            else:
                fence.lines.append(line)
        elif line.strip().startswith("```"):
            fence, indented = Block(number + 1, line.strip()[3:].strip(), marks=marks), None
            marks = []
            blocks.append(fence)
        elif line.startswith("    ") and line.strip() and (indented or previous_is_blank):
            if indented is None:
                indented = Block(number, "", marks=marks)
                marks = []
                blocks.append(indented)
            indented.lines.append(line[4:])
        elif not line.strip():
            if indented:
                indented.lines.append("")
        elif line.startswith("<!-- commands"):
            comment, indented = [line[len("<!-- commands"):]], None
        else:
            indented = None
            prose.append((number, line))
            if marks:
                blocks.append(Block(number, "", marks=marks))
                marks = []
        if comment is not None and line.rstrip().endswith("-->"):
            comment[-1] = comment[-1].rstrip()[:-len("-->")]
            marks, comment = [mark.strip() for mark in comment if mark.strip()], None
        previous_is_blank = not line.strip()
    if marks:
        blocks.append(Block(number, "", marks=marks))
    return blocks, prose


def spans(prose):
    """Yields (line, code) of each span of code in a paragraph; a span may continue on the next line."""
    text = "\n".join(line for _, line in prose)
    numbers = [number for number, _ in prose]
    for match in re.finditer(r"(?<!`)`([^`]+)`(?!`)", text):
        yield numbers[text.count("\n", 0, match.start())], " ".join(match[1].split())


def links(prose):
    """Yields (line, target) of each link and picture."""
    for number, line in prose:
        for match in re.finditer(r"\]\(([^()\s]+)\)", re.sub(r"`[^`]*`", lambda code: "x" * len(code[0]), line)):
            yield number, match[1]


def anchors(prose):
    """Returns the anchors of a page's headings, as GitHub makes them."""
    seen, found = {}, set()
    for _, line in prose:
        match = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if not match:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        seen[slug] = seen.get(slug, -1) + 1
        found.add(slug if seen[slug] == 0 else f"{slug}-{seen[slug]}")
    return found
