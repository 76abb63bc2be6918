"""Cases that need a terminal, one function each: colour, progress, and signals when progress is shown. `case` is as in
logic.py.
"""
import json
import os
import pty
import re
import select
import signal
import subprocess


def _no_terminals():
    """Whether the machine has no pseudo-terminals."""
    if os.path.exists("/dev/ptmx"):
        return False
    print("skipped: no terminals here")
    return True


def _on_terminal(case, words, shown="stderr", until="", numbers=(), **environment):
    """Runs the program with the stream `shown` on a terminal and the other on a pipe, and sends the signals `numbers`
    when the terminal shows `until`. The program's environment has only sanitizer options and `environment`."""
    ours, its = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, shown: its}
    child = subprocess.Popen([case.values["PROGRAM"], *words], stdin=subprocess.DEVNULL, env=kept | environment,
                             **streams)
    os.close(its)
    pipe = child.stdout or child.stderr
    texts = {ours: b"", pipe.fileno(): b""}
    left = list(texts)
    while left:
        for end in select.select(left, [], [])[0]:
            try:
                data = os.read(end, 4096)
            except OSError:  # EIO: the child has closed the terminal
                data = b""
            texts[end] += data
            if not data:
                left.remove(end)
        if numbers and until.encode() in texts[ours]:
            for number in numbers:
                child.send_signal(number)
            numbers = ()
    case.command, case.code = " ".join(words), child.wait()
    seen, piped = texts[ours].decode(), texts[pipe.fileno()].decode()
    case.out, case.err = (seen, piped) if shown == "stdout" else (piped, seen)
    pipe.close()
    os.close(ours)
    if numbers:
        case.fail(f"expected on the terminal: {until}")


def _stopped(case, words, label, *numbers):
    """Sends signals to a run that would take years, as soon as it shows progress. Returns standard output. The exit
    code must be 3, for an incomplete result."""
    _on_terminal(case, words.split(), until=label + ": ", numbers=numbers or (signal.SIGINT,))
    if case.code != 3:
        case.fail("expected exit code 3")
    return case.out


def colour(case):
    """Output is coloured on a terminal only, and not if the user or the terminal disables it."""
    if _no_terminals():
        return
    for shown, environment, more, wanted in (
            ("stdout", {"TERM": "xterm"}, [], True), ("stderr", {"TERM": "xterm"}, [], False),
            ("stdout", {"TERM": "xterm", "NO_COLOR": "1"}, [], False),
            ("stdout", {"TERM": "xterm", "NO_COLOR": ""}, [], True),
            ("stdout", {"TERM": "dumb"}, [], False), ("stdout", {"TERM": "xterm"}, ["--json"], False)):
        words = ["prove", "single_draft", "--instance", "p=(1 1)/2 q=(0 1)/1 K=1", *more]
        _on_terminal(case, words, shown, **environment)
        if case.code != 0 or "proved" not in case.out or ("\x1b" in case.out) != wanted:
            case.fail(f"{shown} on a terminal, {environment}: wanted {'' if wanted else 'no '}colour")


def interrupt(case):
    """Signals during a long run: partial results are printed and marked as incomplete."""
    if _no_terminals():
        return

    def wants(held, what):
        if not held:
            case.fail(f"expected {what}")

    years = "1" + "0" * 15
    # The second of two signals may come before or after the first is handled, so the output is the result or a message.
    # A stopped process has both pending, so the kernel gives them to two threads.
    two = signal.SIGINT, signal.SIGTERM
    for numbers in two[:1], two[1:], (signal.SIGHUP,), two, (signal.SIGSTOP, *two, signal.SIGCONT):
        asked = f"simulate single_draft zipf --tuples {years} --json"
        report = json.loads(_stopped(case, asked, "simulating", *numbers))
        wants(report["complete"] is False, "an incomplete result")
        if len(numbers) == 1:
            wants(report["schema"] == "draftproof.simulate/3", "the result of a simulation")
            wants(re.search(r"simulating: 0 %, [0-9]+ s left", case.err), "progress of a run that has hardly begun")
            wants(0 < report["tuples"] < int(years), "the trials that were made")
            wants(abs(report["draft_accepted"] / report["tuples"] - report["single_draft"]) < 0.1, "their statistics")
    # If a position has too many tuples to finish, the tuples drawn so far are reported.
    survey = "survey zipf:vocabulary=50 --verifier single_draft --tuples 100000000000 --instances 0 --format "
    report = json.loads(_stopped(case, survey + "json", "surveying"))
    source, = report["sources"]
    wants(source["complete"] is False, "a source that is not complete")
    wants(source["rows"][0]["tuples"] > 0 and report["tuples"] > 0, "a part of a position")
    for form in "table", "markdown", "csv", "jsonl", "html", "annotations":
        word = "complete" if form in ("csv", "jsonl") else "stopped early"
        wants(word in _stopped(case, survey + form, "surveying"), f"{form}: {word}")
    report = json.loads(_stopped(case, "check single_draft --tier sampled --distance 0.000001 --json", "checking"))
    wants("draftproof.check/" in report["schema"], "the result of a gate")
    wants(re.search("checking: [0-9]+ %", case.err) and "left" not in case.err, "a share, no time: gates differ")
    asked = "optimum zipf:vocabulary=32000,positions=1000000 -K 2 --json"
    source, = json.loads(_stopped(case, asked, "computing the optimum"))["sources"]
    iid, = (one["mean"] for one in source["optimum"] if one["draft_sampling"] == "iid")
    wants(0 < source["positions"] < 1_000_000 and source["single_draft"] < iid <= 1, "means over the positions so far")
    asked = f"reproduce draft_samplings zipf:vocabulary=50 --effort {years} --json"
    report = json.loads(_stopped(case, asked, "draft_samplings"))
    # Studies do not report a position that was stopped early.
    wants(report["schema"] == "draftproof.study.draft_samplings/1", "the result of a study")
    wants("sources" not in report, "a study without sources")
    for number in signal.SIGINT, signal.SIGHUP:
        asked = "prove single_draft --instances 1000000 --threads 1 --json"
        report = json.loads(_stopped(case, asked, "proving", number))
        proof, = report["proofs"]
        wants(proof["complete"] is False and proof["verdict"] == "stopped", "a proof that was stopped")


def bench_interrupt(case):
    """A stopped benchmark reports the repetitions that it has completed."""
    if _no_terminals():
        return
    asked = "bench ^optimum/small/ --repetitions 10000 --min-time 0.01 --json"
    report = json.loads(_stopped(case, asked, "benchmarking"))
    runs = report["benchmarks"]
    if report["schema"] != "draftproof.bench/1" or report["complete"] is not False or not runs or \
            any("error_occurred" in run for run in runs):
        case.fail("expected the repetitions until then")
