"""Cases that a table cannot express, one function each. `case` has the folder of the case, its runs and the lines of
a table (run.py).
"""
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def _names(*rooms):
    """Returns the names that headers below the folders `rooms` of the source tree register; each folder must register
    some."""
    names = [[name for header in sorted((SOURCE / room).rglob("*.hpp"))
              for name in re.findall(r'\bname\s*=\s*"([^"]+)"', header.read_text())] for room in rooms]
    assert all(names), f"a folder of {rooms} registers no name"
    return [name for some in names for name in some]


def bench_compare(case):
    """Compares two stored runs: benchmarks that changed, that changed within noise, that are missing and that are
    new; and bad files."""
    def write(file, **times):
        case.write(file, json.dumps({"benchmarks": [{"name": name, "cpu_time": time, "time_unit": "us"}
                                                    for name, some in times.items() for time in some]}))
    write("old.json", up=[10, 11, 12, 11, 10], down=[30, 31, 32, 31, 30], same=[5, 6, 7, 6, 5], gone=[1])
    write("new.json", up=[20, 21, 22, 21, 20], down=[10, 11, 12, 11, 10], same=[6, 7, 8, 6, 5], fresh=[1])
    case.write("goal.json", json.dumps({
        "goals": [{"what": "up over down", "slower": "up", "faster": "down", "sense": "at_least", "bound": 2}],
        "benchmarks": [{"name": "up", "cpu_time": 3}, {"name": "down", "cpu_time": 2}]}))
    case.do(r"""
      0 bench compare old.json new.json = approved
      0 bench compare old.json new.json --threshold 300 --json ~ "name": "{up|down}",\n *"verdict": "within_noise"
        ~ "name": "gone",\n *"verdict": "missing"
        ~ "name": "fresh",\n *"verdict": "new"
      # Goals are judged again from what is stored; only who asks gets an exit code.
      0 bench report goal.json ~ up over down +1\.50 +1\.50 to 1\.50 +at least 2 +not met
      1 bench --require-goals report goal.json
      $ printf '{"benchmarks": [' >broken.json; printf '{"schema": "draftproof.survey/3"}' >other.json
      2 bench {compare old.json|report} {broken|other|absent}.json
        ~ ^draftproof: $2\.json: got .*, expected a result of `draftproof bench --json`
      2 bench compare old.json
    """)


def describe_everything(case):
    """Everything that `list` prints can be described."""
    kinds = json.loads(case.run(0, "list --json")).values()
    names = [entry["name"] for kind in kinds if isinstance(kind, list) for entry in kind]
    for name in names:
        case.do(f"0 describe {name} ~ ^{re.escape(name)}\\n")
    if len(names) < 250:
        case.fail(f"described {len(names)} entries only")
    case.do("2 describe exact_distributio ~ did you mean exact_distribution")


def device_cuda(case):
    """`--device cuda` depends on the machine: a program built without CUDA refuses it; with CUDA and without a device
    the command is skipped; with a device the numbers are equal to the CPU's."""
    asked = "survey bernoulli:positions=3 --verifier single_draft --tuples 3000 --instances 0 --json"
    case.values["asked"] = asked
    case.call(case.values["PROGRAM"], [*asked.split(), "--device", "cuda"])
    if case.code == 2:
        case.do("""
          2 {$asked|check single_draft --tier sampled|check --list|simulate single_draft bernoulli} --device cuda
            ~ --device: got "cuda", expected cpu: this program was built without CUDA""")
    elif case.code == 77:
        case.do(r"""
          77 {check single_draft --tier sampled|simulate single_draft bernoulli} --device cuda ~ ^skipped: no CUDA
          device\n\Z
          77 $asked --device cuda ~ "schema": "draftproof.skipped/1",\n *"device": "cuda",\n *"skipped": "no CUDA
          device"
          0 check --list single_draft --device cuda""")
    else:
        case.do(r"""
          0 $asked --device cuda ~ "device": "cuda"
            mask ,\n *"device": "cuda" ->
          0 $asked = same
          0 check single_draft --tier sampled --device cuda ~ trials on cuda""")
    case.do('2 survey bernoulli --device nowhere ~ --device: got "nowhere", expected[ ]')


def device_gates(case):
    """Gates whose trials run on a device are CTest tests with the label gpu, and are skipped without the device. Gates
    of other tiers do not change."""
    def gates(device, tests):
        case.call("cmake", [f"-DPROGRAM={case.values['FAKES']}", f"-DTESTS={case.folder / tests}", "-DTARGET=mine",
                            "-DPROFILE=pr", "-DSEED=1", "-DSHARE=1", f"-DDEVICE={device}", "-DTIMEOUT=300", "-DALL=TRUE", "-P",
                            f"{SOURCE}/cmake/DraftproofWriteGates.cmake"])

    for device, passed in ("absent", r"\*\*\*Skipped"), ("honest", " *Passed"):
        (case.folder / device).mkdir()
        gates(device, f"{device}/CTestTestfile.cmake")
        if case.code != 0:
            case.fail("expected gates")
        written = case.read(f"{device}/CTestTestfile.cmake")
        # The false-alarm budget is divided among all gates that draw trials.
        drawing = len(re.findall("--tier sampled ", written))
        for pattern in (rf"check \[==\[single_draft]==] --tier sampled [^\n]* --device {device} ",
                        r'mine.single_draft.sampled]==\] PROPERTIES LABELS "gate;sampled;gpu"',
                        r'mine.single_draft.proof]==\] PROPERTIES LABELS "gate;proof"',
                        rf"--tier sampled [^\n]* --gates {drawing} "):
            case.matches(pattern, text=written)
        case.matches(r"--tier (proof|edge) [^\n]*--device", wanted=False, text=written)
        case.do(rf"""
          $ ctest --test-dir {device} -L gpu -R mine.single_draft
            ~ mine.single_draft.sampled [ .]+{passed}""")
    # If the program does not know the device, writing the gates fails.
    gates("nowhere", "none.cmake")
    if case.code == 0 or (case.folder / "none.cmake").exists():
        case.fail("expected no gates on a device that there is not")
    case.matches('got "nowhere"', text=case.err)


def help_(case):
    """Every command has a help text and is listed in the help of the program."""
    fewer = {"check": " --tier proof", "list": "", "describe": "", "optimum": "", "replay": "", "prove": " --instances 9",
             "simulate": " --tuples 1000", "survey": " --tuples 1000 --instances 0",
             "survey-paths": " --steps 64 --instances 0", "plan": " --tuples 1000 --instances 0"}
    (case.folder / "data").symlink_to(SOURCE / "data")
    top = case.run(0, "--help")
    case.matches(r"Exit codes: 0 passed, 1 failed, 2 usage or bad input, 3 undecided, 4 internal error, 77 skipped\.")
    for name in _names("cli/commands"):
        name = name.replace("_", "-")
        case.matches(rf"\n  {name} ", text=top)
        case.do(f"""
          0 {name} --help ~ Usage: draftproof {name}
            ~ Exit codes:[ ]""")
        case.matches(rf"Example: draftproof (?P<example>{name}\b[^\n]*)\n")
        # Runs the examples that need no file of another command, with few instances and trials.
        if name in fewer:
            case.run(0, case.values["example"] + fewer[name])
    case.do(r"0 --version ~ ^[0-9]+\.[0-9]+\.[0-9]+\n\Z")


def list_(case):
    """`list` prints every registered name, by kind. The output is searched for each name and not compared as a whole,
    so that a new file does not break the test."""
    case.do(r"""
      0 list ~ (^|\n){verifiers|lossy schemes|mutants|draft samplings|properties}\n
        ~ (^|\n){path verifiers|path mutants|tree samplings|path properties|instances|families}\n
        ~ \n  single_draft +accept the draft with min\(1, p/q\), else draw from \(p - q\)\+\n
        ~ \n  resample_from_target[ ]
        ~ \n  single_draft_tree +accept the draft with min\(1, p/q\), else draw from \(p - q\)\+, at every node of a tree\n
      0 list --json
        json schema draftproof\.list/3
    """)
    for name in _names("verifiers", "sim/drafters", "properties/checks", "properties/paths/checks"):
        case.matches(rf'"name": "(\w+/)?{name}"')  # a component's name begins with its family


def mutants(case):
    """Kill matrix: every mutant is caught, no right scheme fails, and every failure has a replay line. JSON omits
    times.
    """
    case.do(r"""
      0 mutants --controls 1 --json !~ seconds
        json schema draftproof\.mutants/3
        json clean true
    """)
    for name in _names("verifiers/mutants"):
        case.matches(rf'"mutant": "(\w+/)?{name}"')
    case.do(r"""
      # A replay line of the matrix, run.
      1 prove single_draft --draft-sampling draft_temperature_mismatch --instance "p=(1 1)/2 q=(1 2)/3 K=1"
        ~ exact_distribution failed on p=\(1 1\)/2 q=\(1 2\)/3 K=1\n +got \(2/5 3/5\), expected \(1/2 1/2\), TV 1/10\n
        ~ \n  also failed: [^\n]*declared_drafts
      2 mutants --instances 0
    """)


def survey_by_position(case):
    """The counts by position add up to the counts of the row. A survey of several lengths gives the same results as one
    survey for each length."""
    asked = "survey bernoulli:positions=3 --verifier single_draft --tuples 3001 --instances 0 --json"
    row = json.loads(case.run(0, asked + " --by-position"))["sources"][0]["rows"][0]
    for of, whole in ("accepted", row["draft_emitted"]["count"]), ("tuples", row["tuples"]):
        if len(row["by_position"][of]) != 3 or sum(row["by_position"][of]) != whole:
            case.fail(f"{of} add up to {sum(row['by_position'][of])}, expected {whole}")
    if len(row["by_position"]["optimum"]) != 3:
        case.fail("expected 3 optima")
    case.do(f"0 {asked} !~ by_position")

    asked = "survey-paths bernoulli:positions=3 --verifier block -K 1 --steps 200 --instances 4 --json"
    both = json.loads(case.run(0, f"{asked} -L 1,3"))["sources"]
    case.matches('\n  "length"', wanted=False)
    for length, among in zip((1, 3), both):
        alone = json.loads(case.run(0, f"{asked} -L {length}"))["sources"][0]
        case.matches(f'\n  "length": {length},')
        if alone != among:
            case.fail(f"the survey of length {length} differs among others:\n{among}")
    case.do("2 survey-paths bernoulli --verifier block -L 1,65")


def work_failures(case):
    """A full disk, a folder that cannot be written and a missing capture give a clear error and the documented exit
    code, and leave no partial file."""
    program = case.values["PROGRAM"]
    survey = "survey zipf:vocabulary=40,positions=60 --instances 0 --tuples 60 --verifier k_seq,ladder,single_draft".split()
    # No file can be created in /proc. If permissions show this before the work, the exit code is 2; if the write fails
    # after the work, it is 4.
    for option in ("--output", "--checkpoint") if os.path.exists("/proc/self") else ():
        case.call(program, [*survey, option, "/proc/result.json"])
        if case.code not in (2, 4) or case.out:
            case.fail(f"{option} in a folder where no file can be made")
        case.matches("/proc/result.json: (got|cannot be created)")

    # If a private namespace may mount a tmpfs, the full disk is a tmpfs of one page, which an earlier file fills.
    disk = "mkdir disk && mount -t tmpfs -o size=4k none disk && printf kept >disk/all.json"
    unshare = shutil.which("unshare")
    if unshare and subprocess.run([unshare, "-rm", "sh", "-c", disk], cwd=case.folder, capture_output=True).returncode == 0:
        for option in "--output disk/all.json --json", "--shard 1/2 --output disk/all.json", "--json --checkpoint disk/saved":
            (case.folder / "disk").rmdir()
            case.call(unshare, ["-rm", "sh", "-c", disk + ' && "$@"; code=$?; ls disk; cat disk/all.json; exit $code', "sh",
                                program, *survey, *option.split()])
            # A result that does not fit on the disk is written to standard output; parts and checkpoints are not.
            if case.code != 4:
                case.fail(f"a full disk, {option}")
            case.matches(r"all.json\nkept\Z", text=case.out)
            case.matches("disk/[a-z.]+: cannot be written: No space left", text=case.err)
    else:
        print("skipped: a private tmpfs cannot be mounted here")

    case.do("""
      # A capture that is gone between the parts and their merge, or changed.
      $ cp $SOURCE/data/stories512_positions.npz good.npz
      0 survey good.npz --instances 0 --tuples 60 --verifier k_seq --shard {1|2}/2 --output part-$1.json
      $ mv good.npz away.npz
      2 merge part-1.json part-2.json --json ~ good.npz: got
      $ cp part-1.json good.npz
      2 merge part-1.json part-2.json --json ~ good.npz
    """)


def _holds(case, name, what, whole):
    """Requires that the file `name` of the case has the bytes `whole`."""
    if case.read(name) != whole:
        case.fail(f"{what}: other bytes")


def _parts(case, asked, of, order):
    """Runs the shards of a request in the order `order`. Returns the names of their files."""
    for i in order:
        case.run(0, f"{asked} --shard {i}/{of} --output part-{i}-of-{of}.json")
    return " ".join(f"part-{i}-of-{of}.json" for i in order)


def work_proofs(case):
    """A run in shards, also with shards balanced by measured times, and a resumed run give the bytes of one process,
    for proofs, the kill matrix and a study."""
    prove = "prove k_seq accept_always typical_acceptance block gumbel_coupling --instances 70"
    for asked in prove, "mutants --instances 2 --controls 1 --further 0", "reproduce order_of_schemes --effort 1100":
        name = asked.split()[0]
        case.call(case.values["PROGRAM"], [*asked.split(), "--json", "--quiet", "--output", "whole.json", "--checkpoint", name])
        wanted, whole = case.code, case.read("whole.json")
        if wanted not in (0, 1):
            case.fail(f"{name}: wanted a result")
        deals = [""]
        if asked == prove:
            case.run(0, f"plan {asked} --json --output plan.json")
            deals.append("--balance=plan.json")
        for deal in deals:
            for i in 2, 3, 1:
                case.run(0, f"{asked} {deal} --quiet --threads {i} --shard {i}/3 --output part-{i}.json")
            case.run(wanted, "merge part-2.json part-3.json part-1.json --json --output all.json")
            _holds(case, "all.json", f"{name}, 3 shards, {deal}", whole)
        case.run(wanted, f"{asked} --json --quiet --checkpoint {name} --resume --output all.json")
        _holds(case, "all.json", f"{name}, resumed", whole)
    case.values["prove"] = prove
    case.do("""
      # One instance, an adapter and a study without blocks are not divided.
      2 prove k_seq --instance "p=(1 1)/2 q=(0 1)/1 K=1" --shard 1/2 --output x.json ~ work in blocks: got --instance
      2 reproduce worst_cases --shard 1/2 --output x.json ~ expected a study that is divided into blocks: order_of_schemes
      2 $prove --shard 1/2 --balance gone.json --output x.json ~ gone.json: got no such file
      $ printf '{}' >no_plan.json
      2 $prove {--shard 1/2|} --balance no_plan.json --output x.json ~ no_plan.json: got no plan
      $ printf '{"complete": false, "groups": []}' >stopped.json
      2 $prove --shard 1/2 --balance stopped.json --output x.json ~ stopped.json: got a plan that was stopped early
      $ printf '{"groups": [{"group": "some", "blocks": -1, "seconds": 1}]}' >negative.json
      2 $prove --shard 1/2 --balance negative.json --output x.json ~ negative.json: got -1 blocks of some
      2 $prove --shard "" --output x.json ~ --shard: got "", expected a value
    """)


def work_ranks(case):
    """Any number of ranks, also more than processors, gives the same bytes; an error is printed once."""
    program, mpirun = case.values["PROGRAM"], shutil.which("mpirun")
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    if not mpirun or "libmpi" not in libraries:
        print("skipped: built without MPI, or no mpirun")
        return
    os.environ["LSAN_OPTIONS"] = "detect_leaks=0"  # MPI libraries do not free all memory

    def on_ranks(ranks, words, wanted=None):
        case.call(mpirun, ["--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *words])
        if wanted is not None and (case.code != 0 or case.out != wanted):
            case.fail(f"{ranks} ranks: wanted one result, with the bytes of one process")

    for asked, ranks in (
            ("survey zipf:vocabulary=40,positions=9 --verifier k_seq,ladder --tuples 9000 --instances 5", (1, 2, 3, 4)),
            ("check k_seq --tier sampled --profile quick", (2,)),
            ("simulate k_seq zipf:vocabulary=40 --tuples 5000000", (3,)),
            ("survey-paths zipf:vocabulary=8,positions=3 --verifier k_seq_tree,block -L 2,3 --steps 50000"
             " --instances 5", (4,)),
            ("prove k_seq block --instances 70", (2, 3))):
        asked += " --json --quiet"
        case.run(0, asked + " --output whole.json")
        whole = case.read("whole.json")
        for some in ranks:
            on_ranks(some, [program, *asked.split(), "--threads", "1"], whole)
    # Ranks give the same bytes with a plan. A command or a study without blocks runs on rank 0 alone.
    case.run(0, f"plan {asked} --output plan.json")
    on_ranks(3, [program, *asked.split(), "--threads", "1", "--balance", "plan.json"], whole)
    for alone in "list --json", "reproduce --json", "check k_seq --list --json":
        on_ranks(2, [program, *alone.split()], case.run(0, alone))

    on_ranks(2, [program, "survey", "gone.npz"])
    if case.code == 0 or case.err.count("draftproof: gone.npz") != 1 or case.out:
        case.fail("a missing file on two ranks: wanted one error")

    # A killed rank ends the job without a result, and its checkpoint can be resumed.
    long = ("survey zipf:vocabulary=32000 --verifier k_seq,recursive_rejection -K 4 --instances 0 --tuples 20000000 --json"
            " --quiet --threads 1")
    saving = [program, *long.split(), "--checkpoint", "saved", "--output", "result.json"]
    on_ranks(2, ["sh", "-c", """
        if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ]; then exec "$@"; fi
        "$@" &
        rank=$!
        while [ ! -f saved.2-of-2 ]; do sleep 0.05; done
        kill -9 $rank
        wait $rank""", "sh", *saving])
    if case.code == 0 or (case.folder / "result.json").exists():
        case.fail("a killed rank: wanted no result and no exit code 0")
    on_ranks(2, [*saving, "--resume"])
    if case.code != 0:
        case.fail("resumed after a killed rank: wanted exit code 0")
    case.run(0, long + " --output whole.json")
    _holds(case, "result.json", "resumed after a killed rank", case.read("whole.json"))


def work_shards(case):
    """Merging shards in any order gives the bytes of a run in one process, and so does any number of threads."""
    survey = "survey zipf:vocabulary=40,positions=9 --verifier k_seq,ladder,recursive_rejection --tuples 9000 --instances 5"
    for asked, wanted in (
            (survey, 0), ("simulate k_seq zipf:vocabulary=40 --tuples 5000000", 0),
            ("survey-paths zipf:vocabulary=8,positions=3 --verifier k_seq_tree,block -L 2,3 --steps 50000"
             " --instances 5", 0),
            ("check k_seq accept_always --tier sampled --profile quick", 1)):
        name = asked.split()[0]
        case.run(wanted, f"{asked} --json --output whole.json")
        whole = case.read("whole.json")
        for threads in 1, 5:
            case.run(wanted, f"{asked} --json --threads {threads} --output threads.json")
            _holds(case, "threads.json", f"{name}, {threads} threads", whole)
        case.run(wanted, f"merge {_parts(case, asked, 3, (2, 3, 1))} --json --output all.json")
        _holds(case, "all.json", f"{name}, 3 shards", whole)
        # Merges the result of a merge.
        case.run(0, "merge --partial part-3-of-3.json part-1-of-3.json --output some.json")
        case.run(wanted, "merge some.json part-2-of-3.json --json --output all.json")
        _holds(case, "all.json", f"{name}, merged in steps", whole)
        case.do(f"""
          2 merge part-1-of-3.json part-3-of-3.json ~ got no shard 2/3
          2 merge part-1-of-3.json part-3-of-3.json part-1-of-3.json ~ part-1-of-3.json: got shard 1/3 a second time
          $ cp part-1-of-3.json {name}.json""")
    # Merges sixty-four shards, in alphabetical order.
    case.run(0, f"{survey} --json --output whole.json")
    parts = sorted(_parts(case, survey, 64, range(1, 65)).split())
    case.run(0, f"merge {' '.join(parts)} --json --output all.json")
    _holds(case, "all.json", "64 shards", case.read("whole.json"))
    case.values["survey"] = survey
    case.do("""
      2 merge survey.json simulate.json ~ simulate.json: got other arguments: .*command .simulate. instead of .survey.
      # What is no whole file of this plan is refused.
      $ sed s/k_seq/k_sec/g part-1-of-3.json >edited.json; head -c 200 part-1-of-3.json >cut.json
      2 merge {edited|cut}.json ~ $1.json: got a truncated or edited file
      2 $survey --shard 4/3 --output x.json ~ --shard: got .4/3.
      2 $survey --shard 1/3 ~ --shard: got no --output
    """)


def long_message(case):
    """The middle of an error message of more than 1000 characters is cut out."""
    case.call(case.values["PROGRAM"], ["survey", "first" + "x" * 3000])
    head, _, tail = case.err.partition(" ... ")
    if case.code != 2 or head != "draftproof: first" + "x" * 495 or len(tail) != 501 or ", expected a path" not in tail:
        case.fail("expected 500 characters, dots and 500 characters")


def names_from_outside(case):
    """Names of files, of their arrays and in their metadata are printed in every format as one line without control
    characters, and long names are cut. So are names of programs; a cut splits no character. Names of members that
    become equal keep their values."""
    evil = "\x1b[31mred\nname\x9b" + "z" * 100_000
    rows = struct.pack("<4d", .5, .5, .25, .75)
    metadata = {"values": "probability", "target": evil, evil: evil, "b\n": "1", "b\x1b": "2"}
    header = json.dumps({"__metadata__": metadata,
                         **{name: {"dtype": "F64", "shape": [2, 2], "data_offsets": [at, at + 32]}
                            for name, at in (("target", 0), ("draft_" + evil, 32))}}).encode()
    name = os.fsdecode(b"file\x1b[31mred\n\xc2\x9b\xff.safetensors")
    (case.folder / name).write_bytes(struct.pack("<Q", len(header)) + header + rows * 2)
    child = ("import sys; sys.path.insert(0, sys.argv[1]); import verifier_json as v; "
             "v.serve(v.verify, sys.argv[2], engine_version=sys.argv[2], most_vocabulary=64)")
    folder = SOURCE / "examples" / "adapter"
    programs = [shlex.join(["python3", "-c", child, str(folder), text]) for text in (evil[:2000], "a" * 99 + "\xe9" * 9)]
    asked = [["survey", name, "-K", "2", "--verifier", "single_draft", "--tuples", "100", "--instances", "0"]]
    asked += [["check", "--adapter", "exec:" + one, "--tier", "proof", "--profile", "quick", "--models", "1"]
              for one in programs]
    for words in asked:
        for style in "table", "csv", "jsonl", "markdown", "json", "html":
            case.call(case.values["PROGRAM"], [*words, "--format", style])
            longest = max(map(len, case.out.split("\n")))
            wrong = re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", case.out.replace("\r\n", "\n"))
            if case.code != 0 or wrong or longest > 3000 or "red\n" in case.out:
                case.fail(f"{words[0]} as {style}: exit {case.code}, {wrong[:3]}, a line of {longest}: {case.err[:300]}")
    case.call(case.values["PROGRAM"], [*asked[0], "--json"])
    metadata = json.loads(case.out)["sources"][0]["about"]["metadata"]
    if (metadata.get("b "), metadata.get("b +")) != ("1", "2"):
        case.fail(f"two names that become equal: {sorted(metadata)}")


def work_killed(case):
    """Runs that are killed repeatedly, at random times, and resumed each time give the bytes of undisturbed runs: one
    command, in a nightly test every command that has checkpoints."""
    commands = ["survey zipf:vocabulary=300,positions=200 --verifier k_seq,ladder --tuples 6000000 --instances 0"]
    if os.environ.get("DRAFTPROOF_NIGHTLY"):
        commands += ["simulate k_seq zipf:vocabulary=300 --tuples 100000000",
                     "survey-paths zipf:vocabulary=8,positions=3 --verifier k_seq_tree,block -L 2,3 --steps 500000"
                     " --instances 5",
                     "prove k_seq accept_always typical_acceptance block --instances 400",
                     "check k_seq accept_always --tier sampled --profile quick",
                     "mutants --instances 2 --controls 1 --further 0",
                     "reproduce order_of_schemes --effort 200000"]
    for asked in commands:
        name = asked.split()[0]
        case.call(case.values["PROGRAM"], [*asked.split(), "--json", "--quiet", "--output", "whole.json"])
        wanted = case.code
        if wanted not in (0, 1):
            case.fail(f"{name}: wanted a result")
        resumed = f"{asked} --threads 1 --json --quiet --checkpoint {name} --resume --output result.json"
        _kill_repeatedly(case, resumed.split(), wanted, case.folder / name)
        case.run(wanted, resumed)
        _holds(case, "result.json", f"{name}, killed and resumed", case.read("whole.json"))


def _kill_repeatedly(case, words, wanted, saved):
    """Starts the program 20 times and kills it at a random time. Every second run is killed only after it has changed
    the checkpoint `saved`, so that slow machines make progress too. A run that ends first must have the exit code
    `wanted`."""
    result = case.folder / "result.json"

    def content():
        return saved.read_bytes() if saved.exists() else b""

    draws = random.Random(1)
    killed = kept = 0
    for run in range(20):
        result.unlink(missing_ok=True)
        before = content()
        child = subprocess.Popen([case.values["PROGRAM"], *words], cwd=case.folder)
        while run % 2 == 1 and content() == before and not result.exists() and child.poll() is None:
            time.sleep(0.001)
        time.sleep(draws.uniform(0.001, 0.1))
        child.kill()
        if child.wait() not in (-signal.SIGKILL, wanted):
            case.fail(f"killed: wanted no other end, found {child.returncode}")
        killed += child.returncode == -signal.SIGKILL
        kept += child.returncode == -signal.SIGKILL and content() != before
    print(f"{saved.name}: {killed} runs were killed, {kept} of them after a checkpoint")
    if not killed or not kept:  # At least one killed run must have added blocks.
        case.fail(f"{killed} runs were killed, {kept} of them after a checkpoint")
