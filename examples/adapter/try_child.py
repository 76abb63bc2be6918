#!/usr/bin/env python3
"""Talks to a verifier behind an adapter and prints what comes back: hello, a scripted batch, tapes that are too short,
forced cells, a seeded batch, drafts, a text, bye. It needs only Python. It checks the protocol, not the distribution.

    try_child.py python3 examples/adapter/verifier_json.py          exit code 1 on a mistake in the protocol
    try_child.py --page docs/adapters.md                            checks its blocks marked `transcript` and `child`
"""
import json
import math
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # no __pycache__ beside the examples
from adapter_host import Child, Mistake, flat, shape_of, want  # noqa: E402

KINDS = ["", "coin", "pick", "clock", "integer"]
P = [[0.375, 0.25, 0.375], [0.125, 0.5, 0.375], [0.25, 0.25, 0.5]]
Q = [[0.125, 0.75, 0.125], [0.5, 0.375, 0.125]]
TAPES = [[0.9375] * 64, [0.25] * 64, [0.0, 0.9375] * 32]
DEFAULTS = {"engine_version": "", "level": "chain", "draft_sampling": "iid", "randomness": ["scripted"], "dtypes": ["float32"],
            "rows": ["probabilities"], "functions": ["verify"], "most_rows": 4096, "most_drafts": 0,
            "most_vocabulary": 0, "ragged": True, "deterministic": True, "coin_bits": 24, "state_size": 0}
CHOICES = {"level": ["position", "chain", "tree"], "randomness": ["scripted", "seeded", "opaque"],
           "dtypes": ["float32", "float64", "float16", "bfloat16"], "rows": ["probabilities", "logits"],
           "functions": ["verify", "draft", "generate"]}


def read_hello(hello):
    want(hello.get("protocol") == "draftproof-adapter", "hello: protocol", hello.get("protocol"), "draftproof-adapter")
    version = hello.get("version")
    want(isinstance(version, list) and len(version) == 2 and version[0] == 1, "hello: version", version, "[1, 0]")
    want(isinstance(hello.get("name"), str), "hello: name", hello.get("name"), "a text")
    for field, default in DEFAULTS.items():
        found = hello.setdefault(field, default)
        want(type(found) is type(default), f"hello: {field}", json.dumps(found), f"one like {json.dumps(default)}")
        want(found != [], f"hello: {field}", "an empty list", "at least one entry")
        for each in (found if isinstance(found, list) else [found]) if field in CHOICES else []:
            want(each in CHOICES[field], f"hello: {field}", each, "one of " + ", ".join(CHOICES[field]))
    return hello


class Trial:
    """Makes batches of rows with the drafts (1 0), (1) and (1 1); for a child without ragged rows, (1 0) each."""

    def __init__(self, child):
        self.child, self.hello = child, read_hello(child.hello)
        most = self.hello["most_drafts"] or 2
        self.drafts = [row[:most] for row in ([[1, 0], [1], [1, 1]] if self.hello["ragged"] else [[1, 0]] * 3)]
        logits = self.hello["rows"][0] == "logits"
        self.p, self.q = ([[math.log(x) if logits else x for x in distribution] for distribution in distributions] for distributions in (P, Q))

    def request(self, randomness, numbers, rows):
        """Returns a request. `numbers` are tapes or seeds of the three rows, `rows` the indices of the rows to send."""
        n, level = max(len(self.drafts[i]) for i in rows), self.hello["level"]

        def distributions(of, count, most):
            return of[:1] if level == "position" else of[:count] + [[0.0] * 3] * (most - count)

        dtype, lengths = self.hello["dtypes"][0], [len(self.drafts[i]) for i in rows]
        arrays = {"p": (dtype, [distributions(self.p, length + 1, n + 1) for length in lengths]),
                  "q": (dtype, [distributions(self.q, length, n) for length in lengths]),
                  "drafts": ("I32", [self.drafts[i] + [-1] * (n - len(self.drafts[i])) for i in rows]),
                  "lengths": ("I32", lengths)}
        if level == "tree":  # one path
            arrays["parents"] = "I32", [[j - 1 if j < length else -1 for j in range(n)] for length in lengths]
        if randomness == "scripted":
            arrays["tape"] = "F64", [numbers[i] for i in rows]
        if randomness == "seeded":
            arrays["seeds"] = "I64", [numbers[i] for i in rows]
        if self.hello["state_size"] > 0:  # the first call on a text gets a state of zeros
            arrays["state"] = "F64", [[0.0] * self.hello["state_size"] for _ in rows]
        fields = {"type": "verify", "vocabulary": 3, "kind": self.hello["rows"][0], "randomness": randomness}
        return fields, arrays

    def read_log(self, fields, reply, tape, place):
        """Returns the draws of each row as (kind, size, bits, stream, weights)."""
        if "draw_counts" in reply:
            names, rows, cells = fields.get("streams", []), [], 0
            wanted, found = sum(reply["draw_counts"]), len(reply["draws"])
            want(found == wanted, f"{place}: draws", found, f"the {wanted} of draw_counts")
            draws = iter(reply["draws"])
            for count in reply["draw_counts"]:
                rows.append([])
                for kind, size, bits, stream in (next(draws) for _ in range(count)):
                    weights = reply["weights"][cells : cells + size] if kind == 2 else []
                    rows[-1].append((KINDS[kind], size, bits, names[stream] if stream >= 0 else None, weights))
                    cells += len(weights)
            found = len(reply["weights"])
            want(cells == found, f"{place}: weights", found, f"{cells}, the sizes of all picks")
        else:
            want(isinstance(reply.get("draws"), list), f"{place}: draws", "nothing", "the log of a scripted batch")
            rows = [[(*draw, *[None] * (4 - len(draw)), [])[:5] for draw in row] for row in reply["draws"]]
        want(len(rows) == len(tape), f"{place}: draws", f"{len(rows)} rows", len(tape))
        for i, row in enumerate(rows):
            most = len(tape[i])
            want(len(row) <= most, f"{place}: row {i}: draws", len(row), f"at most {most}, the places of the tape")
            for kind, size, bits, _, weights in row:
                want(kind in KINDS[1:], f"{place}: row {i}: kind", kind, "coin, pick, clock or integer")
                good = kind != "pick" or len(weights) == size > 0
                want(good, f"{place}: row {i}: weights", weights, f"{size} numbers")
                good = kind != "coin" or 0 <= bits <= 53
                want(good, f"{place}: row {i}: bits", bits, "1 .. 53, or 0 for coin_bits")
        return rows

    def verify(self, randomness, numbers, place, rows=(0, 1, 2), shows=True):
        """Sends the rows as one batch. Returns (status, tokens, draws, state) of each row."""
        fields, arrays = self.request(randomness, numbers, rows)
        fields, reply = self.child.ask(fields, arrays, place)
        b, n = shape_of(arrays["drafts"][1])
        status = reply.get("status", [0] * b)
        for name, found in {"tokens": reply.get("tokens"), "counts": reply.get("counts"), "status": status}.items():
            want(isinstance(found, list) and len(found) == b, f"{place}: {name}", found, f"{b} rows")
        size = self.hello["state_size"]
        states = reply.get("state") if size else [[]] * b
        good = isinstance(states, list) and [len(row) for row in states] == [size] * b
        want(good, f"{place}: state", states, f"{b} rows of {size} numbers")
        log = [[]] * b
        if randomness == "scripted":
            log = self.read_log(fields, reply, arrays["tape"][1], place)
        results = []
        for i, (tokens, count) in enumerate(zip(reply["tokens"], reply["counts"])):
            at, drafts = f"{place}: row {i}: ", arrays["drafts"][1][i]
            want(status[i] in range(6), at + "status", status[i], "0 .. 5")
            want(not self.child.frames or len(tokens) == n + 1, at + "tokens", f"{len(tokens)} entries", n + 1)
            if status[i] == 0:
                want(1 <= count <= min(len(tokens), n + 1), at + "counts", count, f"1 .. {min(len(tokens), n + 1)}")
                want(all(0 <= x < 3 for x in tokens[:count]), at + "tokens", tokens, f"{count} of 0 .. 2")
                want(all(x == -1 for x in tokens[count:]), at + "tokens", tokens, "-1 after the count")
                good = self.hello["level"] != "chain" or tokens[: count - 1] == drafts[: count - 1]
                want(good, at + "tokens", tokens, f"accepted drafts of {drafts}, then one more")
                weights = [w for draw in log[i] for w in draw[4]]
                good = all(w is not None and 0 <= w < math.inf for w in weights)
                want(good, at + "weights", weights, "finite numbers >= 0, or status 4")
            good = status[i] != 0 or all(x is not None and abs(x) < math.inf for x in states[i])
            want(good, at + "state", states[i], "finite numbers")
            answer = (tokens[:count], states[i]) if status[i] == 0 else ([], [])
            results.append((status[i], answer[0], log[i], answer[1]))
            if shows:
                draws = "; ".join(" ".join(map(str, (d[0], d[3] or "", d[4] or ""))).strip() for d in log[i])
                words = fields.get("messages", {}).get(str(i), "")
                print(f"  row {i}: status {status[i]}, tokens {results[i][1]}", draws, words, sep=" | ")
        return results

    def alone(self, randomness, numbers, whole):
        """Checks that the same batch, sent again, and each row in a separate batch give the results `whole`."""
        if not self.hello["deterministic"]:
            return
        again = self.verify(randomness, numbers, "the same batch again", shows=False)
        want(again == whole, "the same batch again", again, whole)
        for i in range(3):
            place = f"row {i} in a batch of its own"
            alone = self.verify(randomness, numbers, place, [i], False)
            want(alone == whole[i : i + 1], place, alone, whole[i : i + 1])

    def scripted(self):
        print("scripted: tapes of 0.9375s, of 0.25s, and of both 0 and 0.9375")
        whole = self.verify("scripted", TAPES, "scripted batch")
        self.alone("scripted", TAPES, whole)
        status, tokens, draws, _ = whole[0]
        want(draws or status, "scripted batch: row 0: draws", "none", "every random number of the row")
        print(f"tape too short: row 0 with 0 .. {len(draws)} places")
        for places in range(len(draws) + 1):
            place = f"tape of {places} places"
            cut = self.verify("scripted", [TAPES[0][:places]], place, [0])[0]
            wanted = whole[0] if places == len(draws) else (5, [], draws[:places], [])
            want(cut == wanted, f"{place}: status, tokens, draws, state", cut, wanted)
        for at, (kind, size, _, stream, weights) in enumerate(draws if status == 0 else []):
            cells = [cell for cell in range(size) if kind == "integer" or (kind == "pick" and weights[cell] > 0)]
            if not cells:
                continue
            drawn = f"{kind} {stream}" if stream else kind
            print(f"forced values: row 0, random number {at} ({drawn}), each of the cells {cells}")
            answers = set()
            for cell in cells:
                tape = TAPES[0][:at] + [-1.0 - cell] + TAPES[0][at + 1 :]
                forced = self.verify("scripted", [tape], f"forced cell {cell}", [0])[0]
                want(forced[2][: at + 1] == draws[: at + 1], f"forced cell {cell}: draws", forced[2], draws)
                answers.add(str(forced))
            if len(answers) < len(cells):
                print("  note: several cells have one answer; does the child use -1 - cell as a uniform?")

    def seeded(self):
        print("seeded: seeds 1, 2, 1")
        self.alone("seeded", [1, 2, 1], self.verify("seeded", [1, 2, 1], "seeded batch"))

    def opaque(self):
        print("opaque")
        self.verify("opaque", [], "opaque batch")

    def draft(self):
        kind, randomness = self.hello["rows"][0], self.hello["randomness"][0]
        arrays = {"q": (self.hello["dtypes"][0], [self.q[:1]] * 2)}
        arrays |= {"tape": ("F64", TAPES[:2])} if randomness == "scripted" else {}
        arrays |= {"seeds": ("I64", [1, 2])} if randomness == "seeded" else {}
        fields = {"type": "draft", "vocabulary": 3, "drafts": 1, "kind": kind, "randomness": randomness}
        tokens = self.child.ask(fields, arrays, "draft")[1].get("tokens", [])
        want(len(tokens) == 2 and all(-1 <= x < 3 for x in flat(tokens)), "draft: tokens", tokens, "2 rows of 0 .. 2")
        print(f"draft: {tokens}")

    def generate(self):
        tables = {"target": ("F64", [P[0]] * 3), "proposal": ("F64", [Q[0]] * 3)}
        fields = {"type": "generate", "length": 8, "seed": 1, "drafts": 2}
        tokens = self.child.ask(fields, tables, "generate")[1].get("tokens", [])
        good = shape_of(tokens) == [1, 8] and all(0 <= x < 3 for x in flat(tokens))
        want(good, "generate: tokens", tokens, "[1, 8] of 0 .. 2")
        print(f"generate: {tokens[0]}")


def try_child(arguments):
    child = Child(arguments)
    try:
        trial = Trial(child)
        form, about = "frames" if child.frames else "JSON Lines", trial.hello
        named = " ".join(filter(None, (about["name"], about["engine_version"])))
        print(f"hello in {form}: {named}, {about['level']} level, distribution {about['draft_sampling']}")
        for name in about["randomness"] if "verify" in about["functions"] else []:
            getattr(trial, name)()
        for name in about["functions"]:
            if name != "verify":
                getattr(trial, name)()
        child.bye()
        print("bye")
    finally:
        child.process.kill()


def blocks_of(file, mark):
    """Returns the lines of the fenced blocks that are marked with the word `mark`."""
    blocks, inside, fenced = [], False, False
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("```"):
                fenced = not fenced
                inside = fenced and line.split()[1:] == [mark]
                if inside:
                    blocks.append([])
            elif inside:
                blocks[-1].append(line)
    want(blocks, file, f"no block marked {mark}", "at least one")
    return blocks


def check_page(file):
    """Runs each command of a page's transcripts and compares its output, as JSON, with the lines below the command.
    Then tries each child that the page contains."""
    for block in blocks_of(file, "transcript"):
        for session in "".join(block).split("$ ")[1:]:
            command, *wanted = session.splitlines()
            output = subprocess.run(command, shell=True, capture_output=True, text=True, check=False).stdout
            good = [json.loads(x) for x in output.splitlines()] == [json.loads(x) for x in wanted]
            want(good, f"{file}: {command}", "\n" + output, "\n" + "\n".join(wanted))
            print(f"passed: {command}")
    for block in blocks_of(file, "child"):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
            program.write("".join(block))
            program.flush()
            try_child([sys.executable, program.name])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        check_page(sys.argv[2]) if sys.argv[1] == "--page" else try_child(sys.argv[1:])
    except (Mistake, BrokenPipeError) as mistake:
        sys.exit(f"mistake: {mistake}")
