"""Writes docs/python-api.md from the signatures and docstrings of the package: python3 docs/site/python_api.py

The sources are parsed and not imported. An argument without a description is an error.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "draftproof"
FUNCTIONS = {
    "check": "gate",
    "adapter": "declare",
    "gates": "pytest_plugin",
    "keyed": "keys",
    "distribution": "explore",
    "replay": "gate",
    "acceptance": "survey",
    "accepted_lengths": "acceptance/measure",
}
HEAD = """# Python: every argument

Made from the docstrings by `python3 docs/site/python_api.py`. [python.md](python.md) is the introduction. p is the
target's distribution, q the proposal's; V is the number of tokens, L the number of drafts in a row, B that of a batch.
"""
ENTRY = re.compile(r"((?:\w+, )*\w+)  +(\S.*)")


def described(docstring: str) -> tuple[str, dict[str, str]]:
    """Returns the prose of a docstring and the descriptions of its arguments by name.

    A line `name, other   words` begins a description, deeper lines continue it; "; other: words" in a description
    begins the next one.
    """
    prose: list[str] = []
    found: dict[str, str] = {}
    names: list[str] = []
    for line in docstring.splitlines():
        match = ENTRY.fullmatch(line)
        if re.search(r"\S {3,}\S.* {3,}\S", line):  # a table of three columns
            names = []
            prose.append(line)
        elif match:
            names = match[1].split(", ")
            found |= dict.fromkeys(names, match[2])
        elif names and line.startswith("    "):
            found |= {name: f"{found[name]} {line.strip()}" for name in names}
        else:
            names = []
            prose.append(line)
    for name, words in list(found.items()):
        for other, rest in re.findall(r"; (\w+): ([^;]+)", words):
            found.setdefault(other, rest)
    return "\n".join(prose).strip(), found


def function(name: str) -> ast.FunctionDef:
    tree = ast.parse((PACKAGE / f"{FUNCTIONS[name]}.py").read_text())
    return next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)


def arguments(node: ast.FunctionDef) -> list[tuple[str, str, str]]:
    """Returns name, type and default of each argument; the default is empty if it is required."""
    given, rows = node.args, []
    defaults = [None] * (len(given.args) - len(given.defaults)) + list(given.defaults)
    for one, default in [*zip(given.args, defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]:
        kind = ast.unparse(one.annotation) if one.annotation else "Any"
        rows.append((one.arg, kind, "" if default is None else ast.unparse(default)))
    if given.kwarg:
        rows.append((given.kwarg.arg, "keywords", ""))
    return rows


def section(name: str) -> str:
    node = function(name)
    prose, words = described(ast.get_docstring(node) or "")
    rows = arguments(node)
    if missing := [one for one, _, _ in rows if one not in words]:
        raise SystemExit(f"draftproof.{name}: got no description of {', '.join(missing)}, expected a line of each")
    lines = [f"## {name}", "", "```text", prose, "```", "", "| argument | type | default | meaning |", "|---|---|---|---|"]
    for one, kind, default in rows:
        cells = (f"`{one}`", f"`{kind}`", f"`{default}`" if default else "", words[one])
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def page() -> str:
    return "\n".join([HEAD, *map(section, FUNCTIONS)])


if __name__ == "__main__":
    (ROOT / "docs" / "python-api.md").write_text(page())
