"""Tests the readers of pages: blocks, marks, commands, links, and the mistakes that they must find."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_calls
import check_links
import commands
import markdown
import typed

PAGE = """# A page

Text with `draftproof list`.

<!-- commands
draftproof prove k_seq | exit 1; with --instances 5
* | nightly
-->

    draftproof prove k_seq --instances 500     what it does
    ./dev run list   # the same

    draftproof report a.json \\
        b.json

Output:

    $ echo 'x  y' |
        draftproof distribution --adapter 'exec:a b'

    Input 0
      replay: draftproof replay k_seq

```sh
draftproof list
```

```python
draftproof.check()
```

    a block of other things
"""

TUTORIAL = """# A tutorial

    echo before the tutorial

Write `a.txt`, in
a folder named `in/a.txt`:

```python
one
```

To the end of `in/a.txt`:

```python
two
```

<!-- commands
cat | with --number
false | exit 1
ls | by another test
-->

    $ echo x
    shown

```sh
cat in/a.txt WHO
false
ls
```

It says:

    o..
    two

## More

```python
no file
```
"""


class Pages(unittest.TestCase):
    def test_commands_and_their_marks(self):
        found, _ = commands.commands(PAGE)
        self.assertEqual([command.text for command in found],
                         ["draftproof prove k_seq --instances 500", "./dev run list",
                          "draftproof report a.json b.json", "echo 'x  y' | draftproof distribution --adapter 'exec:a b'",
                          "draftproof replay k_seq", "draftproof list"])
        self.assertEqual([command.line for command in found], [10, 11, 13, 18, 22, 25])
        self.assertEqual([command.exits for command in found], [[1], [0], [0], [0], [1], [0]])
        self.assertEqual([command.nightly for command in found], [False, True, True, False, False, False])

    def test_quick_options_replace_those_of_their_name(self):
        command = commands.Command(1, "draftproof a --tuples 100 -K 4 --device=cuda",
                                   options="--tuples 5 --quiet --device cpu")
        self.assertEqual(command.quick(), "draftproof a --tuples 5 -K 4 --device cpu --quiet")

    def test_spans(self):
        _, prose = commands.commands(PAGE)
        self.assertEqual(list(markdown.spans(prose)), [(3, "draftproof list")])
        self.assertEqual(list(markdown.spans([(7, "a `b"), (8, "c`")])), [(7, "b c")])

    def test_mistakes(self):
        for text in ("<!-- commands\nother | nightly\n-->\n\n    draftproof list\n",    # the mark fits no command
                     "<!-- commands\n* | nightly\n-->\n\nno block\n",                    # no block
                     "<!-- commands\n* | slow\n-->\n\n    draftproof list\n",            # an unknown mark
                     "<!-- commands\n* | needs\n-->\n\n    draftproof list\n",           # `needs` without a name
                     "    some words\n    draftproof list\n"):                          # a command in another block
            with self.assertRaises(commands.Mistake, msg=text):
                commands.commands(text)

    def test_anchors(self):
        prose = markdown.split("# K = 4, *or* `more`\n\n## The [distribution](a.md)\n\n## The distribution\n")[1]
        self.assertEqual(markdown.anchors(prose), {"k--4-or-more", "the-distribution", "the-distribution-1"})

    def test_links(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs" / "b.md").write_text("# One\n\n[up](../README.md#top) `docs/none.md` `docs/my_page.md`\n")
            (root / "README.md").write_text("# Top\n\n[a](docs/b.md#one) [b](docs/b.md#two) [c](docs/c.md) "
                                            "[d](https://x.y)\n`docs/b.md`\n\n    [e](none)\n\n"
                                            "<!-- file a.c -->\n\n```c\n  two;\n```\n\n"
                                            "<!-- file a.c -->\n\n```c\n  three;\n```\n")
            (root / "a.c").write_text("one;\n  two;\n")
            seen, wrong = check_links.mistakes(root)
            self.assertEqual(seen, 8)
            self.assertEqual([text.partition(": got")[0] for text in wrong],
                             ["README.md:3", "README.md:3", "README.md", "docs/b.md:3"])

    def test_tables_of_tests(self):
        table = ("| input | result | test |\n| --- | --- | --- |\n| a | b | `test_hostile.py::test_printable`, `Npy.HalfPrecisionIsExact` |\n"
                 "| a | b | `cli.bad_rows`, `cli.outside.numbers` |\n| a | b | `cli.none`, `Npy.None` |\n"
                 "| a | `b` | |\n\n"
                 "| other | table |\n| --- | --- |\n| a | b |\n")
        seen, wrong = check_links.without_tests(markdown.ROOT, markdown.split(table)[1])
        self.assertEqual((seen, [line for line, _ in wrong]), (6, [5, 5, 6]))

    def test_steps_of_calls(self):
        text = (f"{check_calls.SECTION}\n\n### one\n\n1. `a.cpp`: `f` runs.\n\n### two\n\n1. `a.cpp`: `G` runs.\n\n"
                "### three\n\n1. `b.py`: `f` runs.\n\n## Next\n\n1. other text\n")
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "a.cpp").write_text("class G {};\nint g(int);\nint A::f(int (*h)(int)) const {\n  return g(h(1));\n}\n")
            for name in ("b", *(f"b{n}" for n in range(20))):
                (root / f"{name}.py").write_text("def f():\n    g()\n")

            def faults(old="", new=""):
                return check_calls.mistakes(text.replace(old, new, 1), root)[1]

            self.assertEqual(check_calls.mistakes(text, root), (3, []))
            for old, new, fault in (("`f` runs", "`g` runs", "function g"), ("`f` runs", "`h` runs", "function h"),
                                    ("b.py`: `f", "b.py`: `g", "function g"), ("a.cpp", "c.cpp", "file c.cpp"),
                                    ("1. `a.cpp`: `f` ", "1. `a.cpp` ", "got the step"), ("### two", "two", "2 calls"),
                                    ("1. `a.cpp`: `f` runs.", "", "got 0 files"), ("## Three", "## Two", "0 calls")):
                self.assertIn(fault, " ".join(faults(old, new)), (old, new))
            steps = "".join(f"{n + 1}. `b{n}.py`: `f` runs.\n" for n in range(20))
            self.assertEqual(faults("1. `a.cpp`: `f` runs.\n", steps), [])
            self.assertEqual(faults("1. `b.py`", steps + "21. `b.py`"), ["### three: got 21 files, expected 1 to 20"])

    def test_a_tutorial_is_typed(self):
        text = TUTORIAL.replace("cat | with --number\n", "").replace("    $ echo x\n    shown\n\n", "")
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"

            def typed_as(old="", new=""):
                page.write_text(text.replace(old, new, 1))
                return typed.type_page(page, {"WHO": ""}, pathlib.Path(folder), "mine")

            self.assertEqual(typed_as(), (4, []))
            self.assertEqual((pathlib.Path(folder) / "in/a.txt").read_text(), "one\ntwo\n")
            for old, new, fault in (("    o..", "    o..x", "without the line 'o..x'"),
                                    ("    two", "    twO", "without the line 'twO'"),
                                    ("false | exit 1\n", "", "exit code 1, expected [0]: false"),
                                    ("end of `in/a.txt`", "end of `b.txt`", "without the line 'two'")):
                (_, [first, *_]) = typed_as(old, new)
                self.assertIn(fault, first)
            with self.assertRaises(commands.Mistake):
                typed_as("To the end of `in/a.txt`:", "Then:")

    def test_named_blocks_are_code_on_the_site(self):
        sys.path.insert(0, str(markdown.ROOT / "docs" / "site"))
        import stage
        with tempfile.TemporaryDirectory() as folder:
            stage.stage_page("docs/python.md", {}, pathlib.Path(folder))
            text = (pathlib.Path(folder) / "python.md").read_text()
        self.assertNotRegex(text, r"```\w+ \w")
        self.assertGreaterEqual(text.count("```python\n"), 8)


if __name__ == "__main__":
    unittest.main()
