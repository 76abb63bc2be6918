"""Compares the JSON of the commands with docs/json.md: every field of the output is on the page and has its type, and
every field of the page that is not optional is in the output.

    check_json.py PROGRAM
"""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from markdown import ROOT

PLAIN = {"text": str, "integer": int, "number": (int, float), "boolean": bool}
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+?) \|", re.M)
ADAPTER = "exec:" + sys.executable + " examples/adapter/"
REFUTED = "tests/report/results/prove.json"
#: Arguments of the program, and the expected exit code.
COMMANDS = [
    (["list"], 0),
    *((["describe", name], 0) for name in ("k_seq", "block", "kseq_rho_one", "iid", "iid_paths", "zipf")),
    (["prove", "k_seq", "kseq_rho_one", "gls", "block", "--instances", "5"], 1),
    (["prove", "k_seq", "--instances", "5", "--timings"], 0),
    (["survey", "zipf:vocabulary=9,positions=3", "-K", "1,2", "--tuples", "2000", "--instances", "3", "--by-position",
      "--timings"], 0),
    (["survey", "data/stories512_positions.npz", "--verifier",
      "optimal_transport,single_draft", "--tuples", "1000", "--instances", "0"], 0),
    (["survey-paths", "zipf:vocabulary=3,positions=2", "-L", "1,2", "--steps", "200", "--instances", "3",
      "--timings"], 0),
    (["survey-paths", "data/stories512_trees.npz", "--verifier", "greedy_block", "--steps", "200",
      "--instances", "0"], 0),
    (["survey-policies", "data/stories512_trees.npz", "--batches", "100", "--instances", "5", "--timings"], 0),
    (["survey-policies", "zipf:vocabulary=40,positions=9", "-L", "8", "--batches", "10", "--instances", "0",
      "--policy", "row_maximum", "--verifier", "token_path,block", "--sizes"], 0),
    (["check", "k_seq", "--profile", "quick", "--tier", "proof,edge"], 0),
    (["check", "kseq_rho_one", "--tier", "proof"], 1), (["check", "--list"], 0),
    (["check", "--adapter", ADAPTER + "wrong_verifier.py residual_of_p", "--profile", "quick"], 1),
    (["check", "--adapter", ADAPTER + "wrong_verifier.py accept_equal", "--profile", "quick", "--tier", "proof"], 1),
    (["optimum", "zipf:vocabulary=9,positions=3", "-K", "1,2,3"], 0),
    (["simulate", "k_seq", "zipf:vocabulary=9", "--tuples", "1000"], 0),
    (["simulate", "k_seq", "zipf:vocabulary=9", "--estimate", "1024", "--timings"], 0),
    (["replay", "k_seq", "--instance", "p=(1 1)/2 q=(0 1)/1 K=1", "--trial", "3"], 0),
    (["replay", "no_residual_update_tree", "--instance", "L=1 K=2 [] p=(1 1)/2 q=(0 1)/1"], 1),
    *((["replay", rule, "--instance", "p=(1 2 5)/8 q=(1 0 2)/3 K=1"], 1) for rule in ("diversed", "relaxed_acceptance")),
    (["distribution", "--adapter", ADAPTER + "verifier_json.py"], 0),
    (["audit", "tests/golden/traces/whole.safetensors", "--timings"], 0),
    (["audit", "tests/golden/traces/wrong.safetensors"], 1),
    (["report", REFUTED, "tests/report/results/survey.json"], 0), (["report", REFUTED, REFUTED, "--compare"], 0),
]
INPUT = '{"inputs": [{"p": [[0.5, 0.5], [0.5, 0.5]], "q": [[0.25, 0.75]], "drafts": [1]}]}'


def records(text):
    """Returns the records of a page as {name: {field: type}}."""
    parts = re.split(r"^## (\S+)\n", text, flags=re.M)
    return {name: dict(ROW.findall(body)) for name, body in zip(parts[1::2], parts[2::2], strict=True)
            if ROW.search(body)}


def wrong(value, kind, page, path):
    """Returns a message for each part of `value` that does not have the type `kind`."""
    if kind.endswith(" or null") and not kind.startswith("list of"):
        if value is None:
            return []
        kind = kind.removesuffix(" or null")
    if kind == "any":
        return []
    if kind.startswith("list of "):
        if not isinstance(value, list):
            return [f"{path}: got {value!r:.60}, expected a list"]
        return [text for at, one in enumerate(value)
                for text in wrong(one, kind.removeprefix("list of "), page, f"{path}[{at}]")]
    if kind in PLAIN:
        fits = isinstance(value, PLAIN[kind]) and (kind == "boolean" or not isinstance(value, bool))
        return [] if fits else [f"{path}: got {value!r:.60}, expected {kind}"]
    if kind not in page:
        return [f"{path}: the page has no record {kind}"]
    if not isinstance(value, dict):
        return [f"{path}: got {value!r:.60}, expected a record {kind}"]
    fields, found = page[kind], []
    for name, one in value.items():
        stated = fields.get(name, fields.get("*"))
        found += ([f"{path}: got a field {name}, which {kind} does not have"] if stated is None
                  else wrong(one, stated.removeprefix("optional "), page, f"{path}.{name}"))
    found += [f"{path}: got no {name}, which {kind} has" for name, stated in fields.items()
              if name != "*" and not stated.startswith("optional ") and name not in value]
    return found


def main():
    page = records((ROOT / "docs/json.md").read_text())
    stored = sorted((ROOT / "tests/report/results").glob("*.json"))
    documents = [(file.name, json.loads(file.read_text())) for file in stored]
    mistakes, seen = [], set()
    for words, code in COMMANDS:
        done = subprocess.run([sys.argv[1], *words, "--json", "--quiet"], cwd=ROOT, input=INPUT, capture_output=True,
                              text=True, check=False)
        if done.returncode != code:
            mistakes.append(f"{' '.join(words)}: exit code {done.returncode}, expected {code}\n{done.stderr}")
        else:
            documents.append((" ".join(words), json.loads(done.stdout)))
    for name, data in documents:
        seen.add(data["schema"])
        mistakes += [f"{name}: {text}" for text in wrong(data, data["schema"], page, "")[:5]]
    unseen = {name for name in page if name.startswith("draftproof.")} - seen - {"draftproof.skipped/1"}
    mistakes += [f"no document of {name} was validated" for name in sorted(unseen)]
    print(f"{len(documents)} documents of {len(seen)} schemas, {len(mistakes)} mistakes")
    print("\n".join(mistakes))
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
