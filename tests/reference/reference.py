"""Compares results of the program with the results in recorded/: every verifier, path verifier, component, mutant,
draft sampling, tree sampling and study at fixed seeds, at sizes that take about a minute in all.

    reference.py compare PROGRAM [NAME...]   the records of these names; all if none is named
    reference.py record PROGRAM FOLDER       runs the commands below and writes a record of each: FOLDER/NAME.json.gz

Both take `--jobs N`, the number of commands that run at a time. `compare` takes `--folder FOLDER` for records in
another folder. Exit codes: 0 equal, 1 different, 2 bad usage.

A record has the command, its exit code and its JSON; `gzip -dc recorded/NAME.json.gz` shows it. Integers, texts
(fractions are texts) and exit codes must be equal; doubles may differ by TOLERANCE; members of an object may come in
any order. renames.json lists the other differences that are allowed:

- `keys`: members of objects, `{"old": "new"}`.
- `strings`: values and words of the commands, `{"old": "new"}`; mostly names of verifiers. A value that is an old
  name must be replaced by the new one. Within a longer text either is allowed, because a name may also be a plain
  word there. Rows with a renamed name may change their order.
- `additions`: members that may be new, as `NAME.key.key`; `*` stands for any text.

A rename or addition that no record needs is a difference, so that the table has no stale rows.

A commit that changes numbers on purpose records them again and gives the reason:

    python3 tests/reference/reference.py record build/default/draftproof tests/reference/recorded

A change of most numbers, such as another order of the registry, needs a separate commit. Not recorded: `bench`,
`plan` and `--timings`, which measure time; `demo`, which is a survey; `report` and `merge`, which compute nothing;
and devices.
"""
import argparse
import concurrent.futures
import fnmatch
import gzip
import json
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = pathlib.Path(__file__).resolve().parent / "recorded"
RENAMES = pathlib.Path(__file__).resolve().parent / "renames.json"

#: The largest relative difference of doubles that count as equal. The C library's exp, log and pow round their last bit
#: (2^-53 = 1.1e-16, relative) differently between versions and processors. With glibc's variants for processors without
#: FMA and AVX2, no double of these records changed by more than 1.6e-16. If all terms of a sum over 32,000 words round
#: alike, the sum can change by 32,000 2^-53 = 4e-12; if they round at random, by about 2e-14. 1e-12 is above the
#: observed and the random change, and 60,000 times below the resolution of float32, 6e-8.
TOLERANCE = 1e-12

#: Members that are distances between distributions which differ only by rounding, as NAME.key.key. Such a distance is a
#: sum of last bits of numbers up to 1, so its error is relative to 1: with the variants of glibc above it changes by
#: 7e-16, which may be as large as the distance. ROUNDING is 90 times 2^-53.
ROUNDING_ALONE = {"reproduce-precision.forms.distance", "reproduce-precision.stored.distance",
                  "reproduce-precision.stored.distance_to_unrounded", "reproduce-precision.controls.distance"}
ROUNDING = 1e-14

#: Members that are omitted everywhere: times, and names of the host or the version.
LEFT_OUT = {"run", "seconds", "nanoseconds_per_tuple", "microseconds_per_step", "context", "processor", "version"}

#: Members that identify a row of a list: rows with equal identifying members are compared.
NAMING = ("source", "level", "name", "verifier", "scheme", "mutant", "mutant_of", "with", "draft_sampling", "drafter", "sampler",
          "form", "format", "tier", "property", "check", "about", "temperature", "drafts", "length", "vocabulary")

ONE_ROW = '{"inputs": [{"p": [[0.5, 0.5]], "q": [[0.25, 0.75]], "drafts": [1]}]}'
RIGHT_COMPONENTS = ("batch/offsets_by_chunk batch/padded_output batch/token_chain counter/flushed_cells "
                    "counter/framework_tally sampler/alias_sampler sampler/cumulative_sampler "
                    "sampler/fixed_point_sampler sampler/inverse_cdf_sampler sampler/race_sampler "
                    "target/batched_logits target/request_rows")
WRONG_DRAFTERS = "greedy_draft_soft_q draft_temperature_mismatch reduced_vocabulary_ids_unmapped truncated_draft_raw_q"
TEXTS = "data/stories512_positions.npz"
WIDE = "data/mixed32k_positions.npz"

#: The command of each record, as for a shell.
COMMANDS = {
    "list": "list",
    "survey-policies": "survey-policies data/stories512_trees.npz --budget 6 --batches 200 --mutants --instances 5",
    "describe-position": "describe k_seq",
    "describe-paths": "describe block",
    "describe-mutant": "describe kseq_rho_one",
    "describe-draft-sampling": "describe iid",
    "describe-tree-sampling": "describe iid_paths",
    "describe-family": "describe zipf",
    "describe-property": "describe exact_distribution",
    "describe-component": "describe sampler/alias_sampler",
    "describe-study": "describe precision",
    # The kill matrix includes wrong components and wrong drafters.
    "mutants": "mutants --instances 48 --controls 1 --further 1",
    "prove": "prove --mutants --instances 6",
    "prove-wrong-drafters": f"prove single_draft k_seq --draft-sampling {WRONG_DRAFTERS} --instances 20",
    "prove-wrong-tree-drafters": "prove token_path block --draft-sampling path_of_first_row token_cache_undeclared --instances 12",
    "prove-long": "prove k_seq spec_hub recursive_rejection_wor ladder block traversal --instances 60",
    "check-list": "check --list --mutants",
    "check-components": f"check --profile quick {RIGHT_COMPONENTS}",
    "check-edge": "check --profile quick --tier edge",
    "check-proof": "check k_seq single_draft ladder_wor block traversal --profile quick --tier proof",
    "check-sampled": "check --profile quick --tier sampled --mutants --source zipf:vocabulary=64",
    "check-sampled-pair": "check k_seq ladder gls block --profile quick --tier sampled",
    "check-adapter": "check --adapter 'exec:./draftproof serve no_residual_update' --profile quick --tier proof,edge "
                  "--models 6",
    "distribution": "distribution --adapter 'exec:./draftproof serve single_draft'",
    "replay-held": "replay k_seq --instance 'p=(1 1)/2 q=(0 1)/1 K=1' --trial 3",
    "replay-failed": "replay no_residual_update --draft-sampling iid --property exact_distribution --instance 'p=(1 1)/2 q=(0 1)/1 K=2'",
    "replay-paths": "replay no_residual_update_tree --instance 'L=1 K=2 [] p=(1 1)/2 q=(0 1)/1'",
    "optimum-families": "optimum dirichlet bernoulli gaussian_logits one_hot uniform zipf:vocabulary=9 -K 1,2,4",
    "optimum-texts": f"optimum {TEXTS} --sample 64 -K 1,2,3,8",
    "optimum-wide": f"optimum {WIDE} --sample 4",
    "simulate": "simulate k_seq zipf:vocabulary=9 --tuples 200000",
    "simulate-lazy": f"simulate recursive_rejection_wor {TEXTS} --position 7 --tuples 200000 --lazy",
    "simulate-wide": f"simulate ladder {WIDE} --position 5 -K 3 --tuples 50000",
    "estimate": f"simulate recursive_rejection {TEXTS} --estimate 4096 -K 3",
    "survey": "survey zipf:vocabulary=9,positions=3 -K 1,2 --tuples 2000 --instances 0 --by-position --mutants",
    "survey-texts": f"survey {TEXTS} --sample 4 -K 3 --tuples 2000 --instances 0 --target-top-k 40 "
                    "--target-temperature 0.8 --proposal-top-p 0.95",
    "survey-wide": f"survey {WIDE} --sample 1 -K 2 --tuples 500 --instances 0",
    "survey-proposals": f"survey {WIDE} --sample 1 -K 3 --tuples 200 --instances 0 --draft-temperatures 1,1.2,1.4",
    "survey-paths": "survey-paths zipf:vocabulary=3,positions=2 -L 1,2 --steps 500 --instances 0 --mutants",
    "survey-paths-trees": "survey-paths data/stories512_trees.npz --steps 200 --instances 0",
    "survey-paths-live": "survey-paths data/stories260k.bin:q4 --verifier token_path,block,greedy_block,ladder_block "
                         "-L 3 -K 2 --steps 32 --instances 0",
    "audit": "audit tests/golden/traces/whole.safetensors",
    "audit-wrong": "audit tests/golden/traces/wrong.safetensors",
    "reproduce": "reproduce",
    **{f"reproduce-{study}": f"reproduce {study} {size}" for study, size in {
        "acceptance_estimators": "--effort 1", "adaptive_drafts": "--effort 1", "block_against_token": "--effort 4",
        "certified_instances": "--effort 20", "curves_in_drafts": "--effort 20",
        "draft_samplings": "zipf:vocabulary=16 --effort 16", "draft_temperatures": "--effort 1",
        "gate_power": "zipf:vocabulary=500 --effort 8", "hybrid_trees": "zipf:vocabulary=16 --effort 2",
        "ladder_buckets": "--effort 1", "live_paths": "zipf:vocabulary=16 --effort 2", "lossy_rules": "--effort 1",
        "multipath_in_k": "--effort 4",
        "order_of_schemes": "--effort 20", "precision": "--effort 1", "published_path_example": "--effort 1",
        "resolution_trade": "--effort 1", "tree_shapes": "--effort 1", "two_uniform_drafts": "--effort 20",
        "worst_cases": "--effort 4"}.items()},
}
INPUTS = {"distribution": ONE_ROW}


class Renames:
    """The table of names that changed since the records were made, and the set of its rows that a comparison has
    used."""

    def __init__(self, table):
        self.keys, self.strings = dict(table["keys"]), dict(table["strings"])
        self.additions, self.needed = list(table["additions"]), set()
        olds = sorted(self.strings, key=len, reverse=True)
        either = "|".join(map(re.escape, olds))
        self.pattern = re.compile(rf"(?<![\w-])(?:{either})(?![\w-])") if olds else None

    def key(self, old):
        """Returns the current name of a member."""
        return self._needed("keys", old, self.keys[old]) if old in self.keys else old

    def word(self, old):
        """Returns a part of a command with every old name in it replaced."""
        return self.pattern.sub(lambda found: self.value(found[0]), old) if self.pattern else old

    def value(self, old):
        """Returns the new name if a value is an old name, else the value."""
        if isinstance(old, str) and old in self.strings:
            return self._needed("strings", old, self.strings[old])
        return old

    def same_text(self, old, new):
        """Whether a text equals the recorded text, in which each old name may or may not be replaced."""
        if self.value(old) == new:
            return True
        if old in self.strings or not self.pattern or not isinstance(new, str):
            return False
        names = self.pattern.findall(old)
        between = self.pattern.split(old)
        either = [f"(?:{re.escape(name)}|({re.escape(self.strings[name])}))" for name in names]
        wanted = "".join(re.escape(text) + one for text, one in zip(between, [*either, ""], strict=True))
        fits = re.fullmatch(wanted, new)
        for name, used in zip(names, fits.groups() if fits else (), strict=False):
            if used is not None:
                self._needed("strings", name, None)
        return bool(fits)

    def may_be_new(self, place):
        """Whether the table allows a member at this location of a result that the record does not have."""
        fitting = [one for one in self.additions if fnmatch.fnmatchcase(place, one)]
        self.needed.update(("additions", one) for one in fitting)
        return bool(fitting)

    def needless(self):
        """Returns the rows of the table that no comparison has used."""
        rows = [*(("keys", one) for one in self.keys), *(("strings", one) for one in self.strings),
                *(("additions", one) for one in self.additions)]
        return [row for row in rows if row not in self.needed]

    def _needed(self, table, old, new):
        self.needed.add((table, old))
        return new


def identity(row, renames=None):
    """Returns the identifying members of a row, or None if there are none. With `renames` old names are replaced."""
    if not isinstance(row, dict):
        return None
    if renames is None:
        found = row
    else:
        found = {renames.keys.get(key, key): renames.strings.get(value, value) if isinstance(value, str) else value
                 for key, value in row.items() if isinstance(value, (str, int))}
    return tuple((key, found[key]) for key in NAMING if isinstance(found.get(key), (str, int))) or None


def shown(names):
    """Returns the identifying members of a row as text for a message."""
    return " ".join(str(value)[:60] for _, value in names)


def brief(value):
    """Returns a value as text of at most 200 characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "..."


class Comparison:
    """The differences of a document from its record, as lines."""

    def __init__(self, name, renames):
        self.name, self.renames, self.found = name, renames, []

    def differs(self, place, text):
        """Adds a difference."""
        self.found.append(f"{self.name}: {place or 'result'}: {text}")

    def values(self, old, new, place="", path=""):
        """Compares two values. `place` is their location with the names of rows, for messages; `path` is the location
        as names of members only."""
        if isinstance(old, dict) and isinstance(new, dict):
            self.objects(old, new, place, path)
        elif isinstance(old, list) and isinstance(new, list):
            self.lists(old, new, place, path)
        elif not self.equal(old, new, ROUNDING if self.name + path in ROUNDING_ALONE else 0.0):
            self.differs(place, f"{brief(new)}, was {brief(old)}")

    def equal(self, old, new, rounding):
        """Whether two values that are neither objects nor lists are equal. An integer never equals a double, so that
        a count that becomes a double is reported."""
        if type(old) is not type(new):
            return False
        if isinstance(old, float):
            return math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=rounding)
        return self.renames.same_text(old, new) if isinstance(old, str) else old == new

    def objects(self, old, new, place, path):
        """Compares the members of two objects."""
        seen = set()
        for key, value in old.items():
            now = self.renames.key(key)
            seen.add(now)
            within = f"{place}.{now}" if place else now
            if now in new:
                self.values(value, new[now], within, f"{path}.{now}")
            else:
                self.differs(within, f"gone, was {brief(value)}")
        for key in new:
            if key not in seen and not self.renames.may_be_new(f"{self.name}{path}.{key}"):
                self.differs(f"{place}.{key}" if place else key, f"new, {brief(new[key])}")

    def lists(self, old, new, place, path):
        """Compares rows with equal identifying members, if these differ between all rows of each list; else values in
        order."""
        olds, news = [identity(row, self.renames) for row in old], [identity(row) for row in new]
        if None in olds or None in news or len({*olds}) < len(olds) or len({*news}) < len(news) or olds == news:
            self.in_turn(old, new, place, path)
            return
        by_name, known = dict(zip(news, new, strict=True)), set(olds)
        for names, row in zip(olds, old, strict=True):
            if names in by_name:
                self.values(row, by_name[names], f"{place}[{shown(names)}]", path)
            else:
                self.differs(f"{place}[{shown(names)}]", "this row is gone")
        for names in news:
            if names not in known:
                self.differs(f"{place}[{shown(names)}]", "this row is new")
        renamed = any(identity(row) != names for row, names in zip(old, olds, strict=True))
        if not renamed and [names for names in olds if names in by_name] != [names for names in news if names in known]:
            self.differs(place, "rows have another order")

    def in_turn(self, old, new, place, path):
        """Compares the values of two lists in order. A list of names of which some are renamed is sorted first."""
        if len(old) != len(new):
            self.differs(place, f"{len(new)} values, were {len(old)}")
        if all(isinstance(one, str) for one in [*old, *new]) and any(one in self.renames.strings for one in old):
            old, new = sorted(old, key=lambda one: self.renames.strings.get(one, one)), sorted(new)
        for at, (one, other) in enumerate(zip(old, new, strict=False)):
            names = identity(other)
            self.values(one, other, f"{place}[{shown(names) if names else at}]", path)


def kept(value):
    """Returns a value without the members of LEFT_OUT."""
    if isinstance(value, dict):
        return {key: kept(one) for key, one in value.items() if key not in LEFT_OUT}
    return [kept(one) for one in value] if isinstance(value, list) else value


def run(program, words, text):
    """Returns (exit code, JSON or None, standard error) of a command, on one thread. It runs in a folder in which the
    program is ./draftproof and has the tree's data and tests, because texts of results name these paths."""
    with tempfile.TemporaryDirectory(prefix="draftproof-reference-") as folder:
        place = pathlib.Path(folder)
        (place / "draftproof").symlink_to(program)
        for name in ("data", "tests"):
            (place / name).symlink_to(ROOT / name)
        done = subprocess.run(["draftproof", *words, "--json", "--quiet", "--threads", "1"], executable=program,
                              cwd=place, input=text, capture_output=True, text=True, check=False)
    try:
        result = kept(json.loads(done.stdout))
    except json.JSONDecodeError:
        result = None
    return done.returncode, result, done.stderr


def store(program, folder, name):
    """Writes the record of a command; returns an error message, or None."""
    words = shlex.split(COMMANDS[name])
    code, result, told = run(program, words, INPUTS.get(name, ""))
    if result is None or code not in (0, 1) or result.get("complete") is False:
        return f"{name}: exit code {code}, no whole result: {told.strip()[-500:]}"
    record = {"command": words, "input": INPUTS.get(name, ""), "exit_code": code, "result": result}
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    # Without a time in the gzip header, equal results have equal bytes.
    (folder / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    return None


def compare(program, file, renames):
    """Returns the differences between a record and the program's result."""
    record = json.loads(gzip.decompress(file.read_bytes()))
    name = file.name.removesuffix(".json.gz")
    words = [renames.word(word) for word in record["command"]]
    code, result, told = run(program, words, record["input"])
    if result is None:
        return [f"{name}: exit code {code}, no JSON of `draftproof {shlex.join(words)}`: {told.strip()[-500:]}"]
    comparison = Comparison(name, renames)
    if code != record["exit_code"]:
        comparison.differs("exit code", f"{code}, was {record['exit_code']}")
    comparison.values(record["result"], result)
    return comparison.found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording, comparing = verbs.add_parser("record"), verbs.add_parser("compare")
    for verb in (recording, comparing):
        verb.add_argument("program", type=pathlib.Path)
        verb.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    recording.add_argument("folder", type=pathlib.Path)
    comparing.add_argument("names", nargs="*", metavar="NAME")
    comparing.add_argument("--folder", type=pathlib.Path, default=RECORDED)
    given = parser.parse_args()
    program = given.program.resolve()
    if not os.access(program, os.X_OK) or program.is_dir():
        parser.error(f"{given.program} is no program")
    if given.jobs < 1:
        parser.error("--jobs is at least 1")
    files = {file.name.removesuffix(".json.gz"): file for file in sorted(given.folder.glob("*.json.gz"))}
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        if given.verb == "record":
            if stray := [name for name in files if name not in COMMANDS]:
                parser.error(f"{given.folder} has records of no command, to be removed: {' '.join(stray)}")
            given.folder.mkdir(parents=True, exist_ok=True)
            told = [one for one in pool.map(lambda name: store(program, given.folder, name), COMMANDS) if one]
            print("\n".join([*told, f"{len(COMMANDS) - len(told)} records in {given.folder}"]))
            return 1 if told else 0
        try:
            renames = Renames(json.loads(RENAMES.read_text()))
        except (OSError, ValueError, KeyError, TypeError) as error:
            parser.error(f"{RENAMES}: {error!r}")
        if unknown := [name for name in given.names if name not in files]:
            parser.error(f"{given.folder} has no record {' '.join(unknown)}")
        if not files:
            parser.error(f"{given.folder} has no records")
        asked = given.names or list(files)
        lines = pool.map(lambda name: compare(program, files[name], renames), asked)
        found = [line for some in lines for line in some]
    if not given.names:
        found += [f"renames.json: {table}: {one}: no record needs it" for table, one in renames.needless()]
    print("\n".join([*found, f"{len(asked)} commands, {len(found)} differences"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
