"""The registered entries, from the program's output: one entry for each verifier, mutant, draft sampling, property,
component, family and study, with the comment that opens its header and its results on the captures in data/."""
import json
import pathlib
import re
import subprocess
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]

#: For each group of `draftproof list`: the folder of the group's pages, and whether `draftproof describe` accepts the
#: group's entries.
GROUPS = {
    "verifiers": ("verifiers", True), "lossy_schemes": ("verifiers", True), "mutants": ("mutants", True),
    "path_verifiers": ("paths", True), "path_lossy_schemes": ("paths", True), "path_mutants": ("path-mutants", True),
    "draft_samplings": ("draft-samplings", True), "wrong_drafters": ("draft-samplings", True), "tree_samplings": ("tree-samplings", True),
    "properties": ("properties", False), "path_properties": ("path-properties", False),
    "components": ("components", False), "wrong_components": ("components", False), "families": ("families", True),
    "studies": ("studies", False),
}
#: For each folder of pages: the folders of the repository that are searched for the headers of the entries.
HEADERS = {
    "verifiers": ["verifiers", "verifiers/lossy"], "paths": ["verifiers/paths", "verifiers/lossy/paths"],
    "mutants": ["verifiers/mutants"], "path-mutants": ["verifiers/mutants/paths"],
    "draft-samplings": ["sim/drafters", "verifiers/mutants/drafters", "verifiers/mutants/drafters/trees"],
    "tree-samplings": ["sim/drafters/trees"], "properties": ["properties/checks"],
    "path-properties": ["properties/paths/checks"], "families": ["captures/families"],
    "studies": ["bench/studies/figures"],
    "components": sorted(str(group.relative_to(ROOT)) for room in ("sim", "verifiers/mutants")
                         for group in (ROOT / room / "components").iterdir() if group.is_dir()),
}
SURVEYED, WALKED = "data/stories512_positions.npz", "data/stories512_trees.npz"


@dataclass
class Entry:
    name: str
    group: str
    summary: str
    about: dict = field(default_factory=dict)      # the JSON of `draftproof describe`
    header: pathlib.Path = None                    # path from the root
    comment: str = ""                              # the comment that opens the header
    rows: list = field(default_factory=list)       # rows of a survey; for a draft sampling, rows of `optimum`
    kill: list = field(default_factory=list)       # for a mutant, its rows of the kill matrix
    mentions: list = field(default_factory=list)   # (page, title) of the docs pages that name it; set by stage.py

    @property
    def folder(self):
        return GROUPS[self.group][0]

    @property
    def page(self):
        return f"reference/{self.folder}/{self.name.replace('/', '-')}.md"


def ask(program, *arguments, codes=(0,)):
    """Returns the JSON output of a command. Raises RuntimeError if its exit code is not in `codes`."""
    done = subprocess.run([program, *arguments, "--json", "--quiet"], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    if done.returncode not in codes:
        raise RuntimeError(f"draftproof {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def headers_of(folder):
    """Returns {name: header} of the structs with a `name` in HEADERS[folder]."""
    found = {}
    for place in HEADERS[folder]:
        for header in sorted((ROOT / place).glob("*.hpp")):
            for name in re.findall(r"\bname\s*=\s*\"([^\"]+)\"", header.read_text()):
                found.setdefault(name, header.relative_to(ROOT))
    return found


def comment_on(name, text):
    """Returns the comment above the struct with this `name`, or else the comment that opens the file, without comment
    marks.
    """
    above = re.search(rf"((?://.*\n)+)\n?(?:namespace detail {{(?:.*\n)*?}}  // namespace detail\n\n|template.*\n)*struct \w+[^;]*?"
                      rf"\bname\s*=\s*\"{re.escape(name)}\"", text)
    block = above.group(1) if above else text
    lines = []
    for line in block.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.lstrip("/").removeprefix(" "))
    return "\n".join(lines)


def entries(program):
    """Returns all entries by (folder, name), because two properties, of positions and of paths, may share a name."""
    found = {}
    headers = {folder: headers_of(folder) for folder in HEADERS}
    for group, items in ask(program, "list").items():
        if group not in GROUPS:
            continue
        for item in items:
            entry = Entry(item["name"], group, item["summary"])
            if GROUPS[group][1]:
                entry.about = ask(program, "describe", entry.name)
                del entry.about["schema"]
            short = entry.name.rpartition("/")[2]
            entry.header = headers[entry.folder].get(short) or headers[entry.folder].get(short.removesuffix("_tree"))
            # A verifier of trees that is made from the verifier of one position has no header of its own.
            if entry.header is None and entry.name.endswith("_tree"):
                other = "verifiers" if entry.folder == "paths" else "mutants"
                entry.header = headers[other].get(short.removesuffix("_tree"))
            if entry.header:
                entry.comment = comment_on(short, (ROOT / entry.header).read_text())
            found[entry.folder, entry.name] = entry
    return found


def measure(program, found):
    """Adds results to the entries: to verifiers their rows of the surveys, to draft samplings the rows of the optimum,
    and to mutants their rows of the kill matrix."""
    asked = ("--instances", "0", "--timings", "-K", "2,4")
    for row in ask(program, "survey", SURVEYED, *asked)["sources"][0]["rows"]:
        found["verifiers", row["verifier"]].rows.append(row)
    for row in ask(program, "survey-paths", WALKED, *asked)["sources"][0]["rows"]:
        found["paths", row["verifier"]].rows.append(row)
    for row in ask(program, "optimum", SURVEYED, "-K", "1,2,4,8")["sources"][0]["optimum"]:
        found["draft-samplings", row["draft_sampling"]].rows.append(row)
    for row in ask(program, "mutants", codes=(0, 1))["mutants"]:
        folders = {"paths": ("path-mutants", "paths"), "drafters": ("draft-samplings",),
                   "position": ("mutants", "verifiers")}.get(row["level"], ("components",))
        for folder in folders:
            if (folder, row["mutant"]) in found:
                found[folder, row["mutant"]].kill.append(row)
