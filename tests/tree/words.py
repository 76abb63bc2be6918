#!/usr/bin/env python3
"""Checks the words of comments, messages, help lines and pages.

    words.py ROOT [PATH ..]     every file of the tree, or these; prints `file:line: "text": write ...`; exit code 1 if
    any
    words.py --self-test        30 sentences that it must complain about, and 12 that it must accept
    words.py --sample SEED ROOT 40 comments, 20 messages and 10 paragraphs of pages at random, for a reader to judge

The glossary is in CONTRIBUTING.md. A program finds words and some forms of sentences. It cannot find a sentence
without a verb in general, a reference whose antecedent is in another sentence, a maxim, or an effect told without its
mechanism: those need a reader.
"""
from __future__ import annotations

import io
import random
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

# (pattern, what to write instead). A pattern is searched in one sentence of prose, without code in backticks.
WORDS = [
    (r"\blaws?\b", "distribution, or draft sampling for the way in which drafts are drawn"),
    (r"\bdoors?\b", "adapter, or external verifier"),
    (r"\b[Ff]oreign (verifier|program|scheme|engine|drafter)", "external"),
    (r"\btoys?\b", "small model"),
    (r"\b[Ss]lips?\b", "bug, or bug pattern"),
    (r"\bledgers?\b", "draw count, or checkpoint"),
    (r"\b(dealt|deals|dealing)\b", "sharded, distributed over, or load balancing"),
    (r"\bfloors? of (a|the) (copy|copies|read|pass|call|time|memory|run)\b|\b(time|memory) floor", "lower bound"),
    (r"\b[Ww]alk(s|ed|er|ers|ing)?\b", "enumerate, or traverse"),
    (r"\brandom words?\b", "random bits"),
    (r"\b(violated|violates)\b", "failed, or fails"),
    (r"\b(is|are|was|were) held\b(?! (in|by|at|constant|fixed|back|until|while|as|for|here|there))", "passed"),
    (r"\b[Ff]ound [^.;]{1,60}, wanted\b", "got .., expected .."),
    (r"(?<!compiler )(?<!processor )\b(minds|learns|knows|wants)\b", "depends on, reads, has, requires"),
    (r"\b(is|are|be|was|were) told\b|\btells\b", "prints, returns, receives"),
    (r"\b(it|verifier|scheme|program|child|host|device|kernel|test|gate|property|function|check)s? asks?\b",
     "calls, requests, checks"),
    (r"\bof (our|one's) own\b", "built-in, or user-defined"),
]
FORMS = [
    (r"^What\b[^?]*$", "a noun: 'The rows that ..', or a verb: 'Returns ..'"),
    (r"^(Those|That of|The same of|One that|Ones that|None that)\b", "the noun that is meant"),
    (r"(?<=[:;,] )[Tt]hose of\b|\b[Tt]he same of\b", "the noun that is meant"),
    (r"(?<!there )\b(is|are|be) (none|no one)\b", "'is not ..' with the noun that is meant"),
    (r"\bthat (is|are) no (?!longer|more|less|larger|smaller|later|earlier|other|greater|better|worse)", "'that is not a ..'"),
    (r"^(Of|From) (?!now|here|which|its|\w+ (on|to|up|down)\b)[^,:]*\.$", "a sentence with a subject and a verb"),
    (r"^For (those|what|schemes|files|rows|programs|tests)\b[^,:]*\.$", "a sentence with a subject and a verb"),
]
RULES = [(re.compile(pattern), write) for pattern, write in WORDS + FORMS]

# Names that others chose, and names that users type, which are exempt outside backticks too.
EXEMPT = re.compile(
    r"--door|--law|draftproof\.law|draftproof_door|draftproof-door|De Morgan's laws?|[Ll]aw of large numbers|power laws?"
    r"|Walker's alias|random walk|strong law|floor division|std::floor|[\w/.-]*_[\w/.-]*|https?://\S+|\bheld-out\b")

SOURCES = {".hpp", ".cpp", ".cuh", ".cu", ".h", ".c"}
SKIPPED = re.compile(
    r"^(build|data|docs/images|docs/performance/|tests/golden|tests/reference/recorded|tests/cli/approved|tests/report"
    r"/approved|tests/report/results|tests/fuzz/corpus|python/engines/results|python/engines/measured/.*\.json|bench/results)"
    r"|^CHANGELOG\.md$|^tests/tree/words\.py$|python/tests/test_renamed\.py|/__pycache__/|^\.")


def sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a paragraph; code in backticks is replaced by a name."""
    text = re.sub(r"``[^`]*``|`[^`]*`", "name", text)
    yield from (s.strip() for s in re.split(r"(?<=[.!?;]) +(?=[A-Z(])", text) if s.strip())


def paragraphs(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Joins lines that follow each other. Yields (number of the first line, text)."""
    first, last, words = 0, -2, []
    for number, line in lines:
        ends = number != last + 1 or not line.strip() or re.match(r"\s*([-*|#]|\d+\.)\s|\s{3,}", line)
        if ends and words:
            yield first, " ".join(words)
            words = []
        if line.strip():
            if not words:
                first = number
            words.append(line.strip())
        last = number
    if words:
        yield first, " ".join(words)


def of_source(text: str) -> Iterator[tuple[int, str]]:
    """Yields the comments and string literals of C++, C and CUDA."""
    comments: list[tuple[int, str]] = []
    token = re.compile(r'R"(\w*)\((?P<raw>(?:.|\n)*?)\)\1"|//(?P<line>[^\n]*)|/\*(?P<block>(?:.|\n)*?)\*/'
                       r'|"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'')
    for match in token.finditer(text):
        number = text.count("\n", 0, match.start()) + 1
        if match["line"] is not None:
            comments.append((number, match["line"].lstrip("/<")))
        elif match["block"] is not None:
            comments += [(number + i, line.lstrip(" *")) for i, line in enumerate(match["block"].split("\n"))]
        elif match["text"] and " " in match["text"]:
            yield number, match["text"].replace('\\"', '"').replace("\\n", " ")
    yield from paragraphs(comments)


def of_python(text: str) -> Iterator[tuple[int, str]]:
    """Yields the comments, docstrings and messages of Python."""
    comments: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.append((token.start[0], token.string.lstrip("#")))
        elif token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            body = re.sub(r'^[a-zA-Z]*("""|\'\'\'|"|\')|("""|\'\'\'|"|\')$', "", token.string)
            if " " in body:
                yield from paragraphs([(token.start[0] + i, line) for i, line in enumerate(body.split("\n"))])
    yield from paragraphs(comments)


def of_page(text: str) -> Iterator[tuple[int, str]]:
    """Yields the prose of Markdown, without fenced or indented blocks and tables that list names."""
    lines, fenced = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            lines.append((number, re.sub(r"\]\([^)]*\)", "]", line)))
    yield from paragraphs(lines)


def complaints(prose: str) -> list[tuple[str, str]]:
    """Returns (text, what to write) for everything that is wrong in a paragraph."""
    return [
        (match.group(0), write)
        for sentence in (EXEMPT.sub("name", one) for one in sentences(prose))
        for pattern, write in RULES
        for match in [pattern.search(sentence)]
        if match
    ]


def reader(path: Path):
    """Returns the reader of a file's prose, or None for files without prose of ours."""
    if path.suffix in SOURCES:
        return of_source
    return {".py": of_python, ".md": of_page}.get(path.suffix)


def check(root: Path, chosen: list[str]) -> int:
    count = read = 0
    for name, _, path in files(root, chosen):
        read += 1
        for line, prose in reader(path)(path.read_text(encoding="utf-8")):
            for text, write in complaints(prose):
                print(f'{name}:{line}: "{text[:70]}": write {write}')
                count += 1
    print(f"{count} complaints in {read} files", file=sys.stderr)
    if read == 0:
        print("no file was read", file=sys.stderr)
        return 2
    return 1 if count else 0


def files(root: Path, chosen: Sequence[str] = ()) -> Iterator[tuple[str, str, Path]]:
    """Yields (name, kind, path) of every file whose prose is read."""
    for path in sorted(root.rglob("*") if not chosen else (root / name for name in chosen)):
        name = path.relative_to(root).as_posix()
        if SKIPPED.search(name) or path.is_symlink() or "include/draftproof" in name or not path.is_file():
            continue
        if reader(path) is not None:
            yield name, path.suffix, path


def sample(root: Path, seed: int) -> None:
    """Prints comments, messages and paragraphs at random. Messages are string literals of sources; their format fields
    are not filled in."""
    comments, messages, pages = [], [], []
    for name, suffix, path in files(root):
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        for line, prose in reader(path)(text):
            if len(prose) < 40 or re.search(r"\S {3,}\S|\|", prose):
                continue  # a table, or a name
            entry, first = f"{name}:{line}: {prose}", lines[line - 1]
            if suffix == ".md":
                pages.append(entry)
            elif re.search(r'//|/\*|#|"""|^ *\*', first):
                comments.append(entry)
            elif '"' in first and "tests/" not in name:
                messages.append(entry)
    draw = random.Random(seed)
    for title, entries, count in ("Comments", comments, 40), ("Messages", messages, 20), ("Pages", pages, 10):
        print(f"\n{title} ({len(entries)} in all)")
        for entry in draw.sample(entries, count):
            print("-", entry[:700])


PLANTED = [  # by pattern: (1) no verb, (2) antecedents, (3) "What", (4) none, (5) persons, (6) home words
    "Of a part only the instances count.", "For schemes that do not run on the table.", "From the last block.",
    "The tables of position i: those of the last block where it was at the same one.", "Those whose tape was short stay.",
    "The same of sum Var / p over tokens.", "That of the root comes first.", "One that is cut is undecided.",
    "What libraries beyond the framework have added.", "What the verifier decides on.",
    "A maximum with a number that is none is none.", "Entries that are no probabilities are skipped.",
    "The kernel asks the host for rows.", "The scheme minds the order of drafts.", "A gate learns its limit.",
    "The gate knows the format.", "The device wants aligned rows.", "Kernels with a fault, told to both tests, are told.",
    "The law of the output is p.", "Drafts of a draft law.", "A program behind a door.", "A foreign verifier.",
    "On a toy with two tokens.", "A slip of tree verifiers.", "The ledger of draws.", "Blocks are dealt to ranks.",
    "Ten times the floor of a copy.", "Walked one by one.", "The property is violated.", "A verifier of our own.",
]
ACCEPTED = [
    "Returns the distribution of the output.", "Whether the draft sampling is supported.", "What is exact?",
    "Throws InputError if the file is truncated.", "A power law with exponent 1.", "`--door` is now `--adapter`.",
    "Rows are held in registers.", "The value is no longer used.", "Uses std::floor.", "Because u < 1, the test is strict.",
    "The row must not be empty.", "Verifiers registered by user libraries.",
]


def self_test() -> int:
    missed = [text for text in PLANTED if not complaints(text)]
    wrong = [(text, complaints(text)) for text in ACCEPTED if complaints(text)]
    read = list(of_source('int a;  // A law.\nf("a door of rows");\n/* A toy. */'))
    read += of_python('"""A slip."""\n# A law.\n')
    read += list(of_page("A door.\n\n```\nlaw\n```\n\n- a toy\n"))
    seen = sum(bool(complaints(prose)) for _, prose in read)
    for text in missed:
        print("missed:", text)
    for text, said in wrong:
        print("accused:", text, said)
    if seen != 7:
        print(f"readers: {seen} of 7 planted words were read")
    return 1 if missed or wrong or seen != 7 else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    if sys.argv[1:2] == ["--sample"]:
        sys.exit(sample(Path(sys.argv[3]), int(sys.argv[2])))
    sys.exit(check(Path(sys.argv[1]), sys.argv[2:]))
