"""Checks the built site of the docs: its start page, its order, its colours, and the order of its search results.

    built_site.py SITE      exit code 77 and a reason without a site; searches need node

The search script of the theme runs in node, on the index of the site.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from markdown import ROOT

#: Searches, each with pages. At least one of the pages must come before every page of a single mutant.
SEARCHES = {"ladder": ["ladder.html"], "rejection": ["which-verifier.html", "python.html", "proofs.html"],
            "residual": ["python.html", "tutorial.html", "adapters.html"], "k_seq": ["reference/verifiers/k_seq.html"],
            "tree": ["paths.html"], "block": ["paths.html"], "greedy": ["python.html", "paths.html"],
            "hostile": ["hostile-input.html"], "kseq_rho_one": ["reference/mutants/kseq_rho_one.html"]}
RUN = """
const fs = require("fs"), vm = require("vm"), [worker, index, queries] = process.argv.slice(1);
const listeners = [], answers = [];
const scope = {addEventListener: (kind, of) => listeners.push(of), postMessage: data => answers.push(data), console,
               setTimeout, clearTimeout, URL, location: {href: "http://localhost/"}};
scope.self = scope.window = scope.globalThis = scope;
vm.runInNewContext(fs.readFileSync(worker, "utf8"), scope);
const send = async data => { answers.length = 0; for (const of of listeners) await of({data}); return answers[0]; };
(async () => {
  const options = {pipeline: ["trimmer", "stopWordFilter"], suggestions: false, suggest: false};
  await send({type: 0, data: {...JSON.parse(fs.readFileSync(index, "utf8")), options}});
  const found = {};
  for (const query of JSON.parse(queries)) {
    const answer = await send({type: 2, data: query});
    found[query] = (answer.data.items || answer.data).map(group => group[0].location);
  }
  console.log(JSON.stringify(found));
})();
"""


def is_mutant(location):
    """Whether a page describes one mutant; the page that lists all mutants does not count."""
    return re.match(r"reference/[\w-]*mutants/(?!index)", location) is not None


def searched(site):
    """Returns the faults of the order of search results."""
    (worker,) = (site / "assets/javascripts/workers").glob("search.*.min.js")
    asked = ["node", "-e", RUN, worker, site / "search/search_index.json", json.dumps(list(SEARCHES))]
    ended = subprocess.run(list(map(str, asked)), capture_output=True, text=True, check=False)
    if ended.returncode != 0 or not ended.stdout:
        return [f"got no result of a search, expected some: {ended.stderr[-2000:]}"]
    wrong = []
    for query, found in json.loads(ended.stdout).items():
        places = [n for n, one in enumerate(found) if one.partition("#")[0] in SEARCHES[query]]
        mutants = [n for n, one in enumerate(found) if is_mutant(one)]
        print(f"{query}: {', '.join(found[:4])}; first mutant: {mutants[:1]}")
        first = SEARCHES[query][0]
        if not places or (mutants and not is_mutant(first) and mutants[0] < places[0]):
            wrong.append(f"search for {query}: got {found[:5]}, expected {' or '.join(SEARCHES[query])} before mutants")
    return wrong


def looked_at(site):
    """Returns the faults of the start page, of the order of guides, and of the colours."""
    wrong = []
    text = (site / "index.html").read_text()
    for scheme, other in (("default", "slate"), ("slate", "default")):
        if not re.search(rf'data-md-color-scheme="{scheme}"', text):
            wrong.append(f"index.html: got no colours {scheme}, expected them beside {other}")
    if "prefers-color-scheme: dark" not in text or "prefers-color-scheme: light" not in text:
        wrong.append("index.html: got colours that do not follow the system, expected (prefers-color-scheme)")
    if 'href="contents.html"' not in text:
        wrong.append("index.html: got no link to contents.html, expected the reading order")
    order = re.findall(r"\]\(([\w-]+)\.md", (ROOT / "docs/contents.md").read_text())
    menu = [name for name in re.findall(r'<a href="([\w-]+)\.html" class="md-nav__link', text) if name in order]
    start = ["python", "ci", "tutorial", "which-verifier"]
    if menu[:4] != start:
        wrong.append(f"index.html: got a menu that begins with {menu[:4]}, expected {start}")
    guides = [name for name in dict.fromkeys(menu) if name not in start]
    if guides != sorted(guides, key=order.index):
        wrong.append(f"index.html: got guides in the order {guides}, expected that of contents.md")
    return wrong


def main():
    site = pathlib.Path(sys.argv[1])
    if not (site / "index.html").exists():
        print(f"skipped: no site at {site}")
        return 77
    wrong = looked_at(site)
    if shutil.which("node"):
        wrong += searched(site)
    else:
        print("searches skipped: no node")
    print("\n".join(wrong) or "the site is as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
