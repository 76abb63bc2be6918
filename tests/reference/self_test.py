"""Tests of the comparison of documents: equal documents, and differences that it must report."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from reference import Comparison, Renames, kept

ROWS = [{"verifier": "block", "draft_sampling": "iid", "rate": 0.5, "count": 3},
        {"verifier": "k_seq", "draft_sampling": "iid", "rate": 0.25, "count": 4}]


def table(keys=(), strings=(), additions=()):
    """Returns a table of renames."""
    return Renames({"keys": dict(keys), "strings": dict(strings), "additions": list(additions)})


def found(old, new, renames=None):
    """Returns the differences of two documents."""
    comparison = Comparison("some", renames or table())
    comparison.values(old, new)
    return comparison.found


class Values(unittest.TestCase):
    def test_what_is_the_same(self):
        for old, new in [({"a": 1, "b": "1/3"}, {"b": "1/3", "a": 1}), ([0.1], [0.1 * (1 + 5e-13)]), (None, None),
                         ([0.0], [0.0]), (True, True), (2**64, 2**64), (ROWS, ROWS)]:
            self.assertEqual(found(old, new), [])

    def test_what_differs(self):
        for old, new in [(1, 2), (1, 1.0), (1, True), ("1/3", "2/6"), (0.1, 0.1 * (1 + 3e-12)), (0.0, 1e-300),
                         ([1], [1, 2]), ([1, 2], [1, 3]), ({"a": 1}, {}), ({}, {"a": 1}), (None, 0), ({"a": None}, {}),
                         (2**64, 2**64 + 1), ([1], {"a": 1})]:
            self.assertEqual(len(found(old, new)), 1, (old, new))

    def test_rounding_alone_is_measured_against_one(self):
        old, new = {"forms": [{"distance": 3e-13}]}, {"forms": [{"distance": 3.01e-13}]}
        comparison = Comparison("reproduce-precision", table())
        comparison.values(old, new)
        self.assertEqual(comparison.found, [])
        self.assertEqual(len(found(old, new)), 1)

    def test_times_are_left_out(self):
        self.assertEqual(kept({"a": [{"seconds": 2, "b": 1}], "run": {}}), {"a": [{"b": 1}]})


class Rows(unittest.TestCase):
    def test_a_row_is_named(self):
        changed = [ROWS[0], {**ROWS[1], "count": 5}]
        self.assertEqual(found({"rows": ROWS}, {"rows": changed}), ["some: rows[k_seq iid].count: 5, was 4"])

    def test_rows_that_come_go_or_move_are_told(self):
        self.assertEqual(found(ROWS, ROWS[1:]), ["some: [block iid]: this row is gone"])
        self.assertEqual(found(ROWS[1:], ROWS), ["some: [block iid]: this row is new"])
        self.assertEqual(found(ROWS, ROWS[::-1]), ["some: result: rows have another order"])


class Renamed(unittest.TestCase):
    def test_rows_of_renamed_schemes_move(self):
        new = [ROWS[1], {**ROWS[0], "verifier": "whole_block"}]
        self.assertEqual(found(ROWS, new, table(strings={"block": "whole_block"})), [])
        self.assertEqual(len(found(ROWS, new)), 2)

    def test_an_old_name_must_not_stay(self):
        self.assertEqual(len(found(["block"], ["block"], table(strings={"block": "whole_block"}))), 1)

    def test_within_a_text_either_name_may_stand(self):
        renames, old = table(strings={"block": "whole_block"}), "replay block, a block of blocks"
        for new in ("replay whole_block, a block of blocks", old):
            self.assertEqual(found(old, new, renames), [])
        for new in ("replay whole_block, a block of whole_blocks", "replay token, a block of blocks"):
            self.assertEqual(len(found(old, new, renames)), 1)

    def test_members_and_words(self):
        renames = table(keys={"law": "draft_sampling"}, strings={"block": "whole_block"}, additions=["some.rows.new"])
        new = [{"draft_sampling": row["draft_sampling"], "new": 1, **{key: row[key] for key in row if key != "draft_sampling"}} for row in ROWS]
        new[0]["verifier"] = "whole_block"
        old = [{"law" if key == "draft_sampling" else key: value for key, value in row.items()} for row in ROWS]
        self.assertEqual(found({"rows": old}, {"rows": new}, renames), [])
        self.assertNotEqual(found({"rows": old}, {"rows": old}, renames), [])
        self.assertEqual(renames.word("token_path,block,greedy_block"), "token_path,whole_block,greedy_block")
        self.assertEqual(renames.needless(), [])

    def test_rows_of_the_table_that_nothing_needs(self):
        renames = table(keys={"a": "b"}, strings={"c": "d"}, additions=["some.e"])
        self.assertEqual(found({"f": 1}, {"f": 1}, renames), [])
        self.assertEqual(renames.needless(), [("keys", "a"), ("strings", "c"), ("additions", "some.e")])


if __name__ == "__main__":
    unittest.main()
