"""Every numeric option of every command refuses invalid numbers before work begins: exit code 2, one line that names
the option, the value and the expected kind, and nothing on standard output. With the largest values that the help
allows, and little memory, a run ends with a documented exit code or is still working after the time limit.

    numbers_test.py PROGRAM [nightly]
"""

import re
import resource

from program import NIGHTLY, every_command, finish, in_parallel, run, usual_words

ALL = ["nan", "inf", "-inf", "1e400", "0x10", "one"]
WHOLE = ["1.5", "18446744073709551616", "-1"]
NARROW = ["4294967297"]  # too large for an int
if NIGHTLY:
    ALL += ["-nan", "NaN", "Infinity", "-1e400", "1e", "e5", "1,5x", " 1", "1 ", "+1", "--1", "1e999999999", "9" * 5000, "\u0661", "-",
            ".", "1.5.5", "1\n"]
    WHOLE += ["-0.5", "1e-3", "4294967296.5", "18446744073709551617", "99999999999999999999", "-9223372036854775809", "1e19",
              "-18446744073709551615"]
    NARROW += ["2147483648", "-2147483649", "1e10"]
LINE = re.compile(rb"(draftproof: )?(\S+): (got .+, expected .+|.* missing)\n")


def cases():
    for command in every_command():
        for option in command.options + command.arguments:
            if option.kind not in ("INT", "UINT", "FLOAT"):
                continue
            values = ALL + (WHOLE if option.kind != "FLOAT" else []) + (NARROW if option.kind == "INT" else [])
            if option.name.startswith("-"):
                for value in values:
                    yield option, [*command.words, f"{option.name}={value}"]
                    if option.listed:
                        yield option, [*command.words, f"{option.name}=1,{value}"]
                yield option, [*command.words, f"{option.name}="]
                yield option, [*command.words, option.name, ""]
                yield option, [*command.words, option.name]


def judge(case):
    option, words = case
    ran = run(words, limit=10)
    line = LINE.match(ran.err)
    short = len(ran.err) < 400 and b"e+30" not in ran.err and not re.search(rb"\d{25}", ran.err.replace(b"9" * 60, b""))
    good = ran.code == 2 and not ran.out and line and short and option.name.encode() in line[2]
    return None if good else ran.told()


def little_memory():
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))


def largest():
    """Yields for each option a run with its largest value and otherwise values that make the run short."""
    for command in every_command():
        for option in command.options:
            if option.most and command.words:
                words = usual_words(command)
                if option.name in words:
                    at = words.index(option.name)
                    del words[at:at + 2]
                yield [*words, option.name, option.most, "--quiet", "--threads=2"]


def judge_largest(words):
    ran = run(words, limit=5, preexec_fn=little_memory)
    return None if ran.code in (0, 1, 2, 3, 77, -9) and (ran.code != 2 or ran.err) else ran.told()


if __name__ == "__main__":
    every = list(cases())
    options = {id(option) for option, _ in every}
    assert len(options) > 40, "the help was not understood"
    wrong = [told for told in in_parallel(judge, every) if told]
    if NIGHTLY:
        large = list(largest())
        wrong += [told for told in in_parallel(judge_largest, large) if told]
        print(f"{len(large)} runs with the largest value of an option")
    finish(f"{len(every)} runs of {len(options)} options", wrong)
