"""Tests of Triton under a tape, in separate processes, because the interpreter is chosen when Triton is imported."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None or importlib.util.find_spec("torch") is None,
    reason="triton or torch is not installed",
)

ENGINES = Path(__file__).resolve().parents[1] / "engines"
KERNELS = """
from pathlib import Path

import numpy as np
import torch
import triton
import triton.language as tl
from triton.language import rand as own_name

from draftproof import intercept
from draftproof.tape import RowsUnclear, Tape, TapeShort, UnknownRandomness

@triton.jit
def uniforms(out, seed, first, n: tl.constexpr):
    o = tl.arange(0, n)
    tl.store(out + o, own_name(seed, first + o))
    tl.store(out + n, tl.rand(seed, tl.program_id(0) + 1))

@triton.jit
def integers(out, seed, n: tl.constexpr):
    o = tl.arange(0, n)
    tl.store(out + o, tl.randint(seed, o).to(tl.int64))

@triton.jit
def fours(out, seed, n: tl.constexpr):
    o = tl.arange(0, n)
    a, b, c, d = tl.rand4x(seed, o)
    tl.store(out + o, d - a)

@triton.jit
def both(out, seed, n: tl.constexpr):
    o = tl.arange(0, n)
    tl.store(out + o, tl.rand(seed, o) + tl.randint(seed, o))

@triton.jit
def normals(out, seed, n: tl.constexpr):
    tl.store(out + tl.arange(0, n), tl.randn(seed, tl.arange(0, n)))

def run(kernel, *arguments, dtype=torch.float32, tape):
    out = torch.zeros(16, dtype=dtype)
    with intercept.intercepting(tape):
        kernel[(1,)](out, *arguments)
    return out.tolist()
"""


def in_process(code: str, tmp_path: Path, interpret: bool = True) -> None:
    file = tmp_path / "kernels.py"  # Triton reads the source of a kernel
    file.write_text(KERNELS + textwrap.dedent(code))
    root = str(Path(__file__).resolve().parents[1])
    environment = os.environ | {"PYTHONPATH": root, "TRITON_INTERPRET": str(int(interpret)), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_pair_of_seed_and_offset_is_one_number(tmp_path: Path) -> None:
    in_process(
        """
        tape = Tape([[0.5, 0.25, 0.125, 0.75, 0.0625, 0.375, 0.875]], 3)
        near = lambda found, *wanted: np.allclose(found, wanted, atol=0, rtol=2.0**-22)   # tl.rand's scale is
        assert near(run(uniforms, 3, 0, 4, tape=tape)[:5], 0.5, 0.25, 0.125, 0.75, 0.25)   # below 2^-31
        counts, draws, _, streams = tape.log()
        assert draws.tolist() == [[1, 0, 31, 0]] * 4 and streams == ["rand"]
        assert tape.draw_log[0] == ("triton.language.rand", "float32", (4,), "given", "coin")

        def twice():
            first = torch.zeros(16), torch.zeros(16)
            with intercept.intercepting(tape):
                uniforms[(1,)](first[0], 3, 0, 4)
                uniforms[(1,)](first[1], 4, 2, 2)   # another seed: other numbers
            return first

        tape = Tape([[0.5, 0.25, 0.125, 0.75, 0.0625, 0.375, 0.875]], 3)
        first, second = twice()
        assert near(second[:3], 0.0625, 0.375, 0.875)   # offsets 2, 3, and then 1, of seed 4
        """,
        tmp_path,
    )


def test_the_tape_gives_what_triton_makes_of_the_same_bits(tmp_path: Path) -> None:
    in_process(
        """
        u, x = torch.zeros(65), torch.zeros(64, dtype=torch.int64)
        uniforms[(1,)](u, 3, 0, 64)
        integers[(1,)](x, 3, 64)
        bits = x.numpy().astype(np.uint32)
        folded = np.where(bits.view(np.int32) < 0, ~bits.view(np.int32), bits.view(np.int32))
        given = torch.zeros(65)
        with intercept.intercepting(Tape([(folded * 2.0**-31).tolist()], 3)):
            uniforms[(1,)](given, 3, 0, 64)
        assert torch.equal(u, given)
        again = torch.zeros(64, dtype=torch.int64)
        with intercept.intercepting(Tape([(bits * 2.0**-32).tolist()], 3)):
            integers[(1,)](again, 3, 64)
        assert torch.equal(x, again)
        after = torch.zeros(65)
        uniforms[(1,)](after, 3, 0, 64)
        assert torch.equal(u, after)   # outside of the context Triton draws as ever
        """,
        tmp_path,
    )


def test_blocks_of_four_and_what_is_refused(tmp_path: Path) -> None:
    in_process(
        """
        assert run(fours, 3, 1, tape=Tape([[0.25, 0.5, 0.5, 0.75]], 3))[0] in (0.5, 0.5 - 2.0**-24)

        def fails(error, kernel, values, word):
            try:
                run(kernel, 3, 2, tape=Tape(values, 3))
            except error as found:
                assert word in str(found), found
            else:
                raise AssertionError(f"no {error.__name__}")

        fails(UnknownRandomness, normals, [[0.5] * 9], "randn")
        fails(UnknownRandomness, both, [[0.5] * 9], "a uniform and an integer")
        fails(TapeShort, fours, [[0.5]], "1 places")
        fails(RowsUnclear, fours, [[0.5] * 9] * 2, "2 rows")
        """,
        tmp_path,
    )


def test_a_compiled_kernel_is_out_of_reach(tmp_path: Path) -> None:
    code = """
    def fn(out):
        uniforms[(1,)](out, 3, 0, 4)

    found = intercept.unreachable(fn)
    assert len(found) == {count}, found
    assert all("global uniforms" in line and "TRITON_INTERPRET=1" in line for line in found)
    """
    in_process(code.replace("{count}", "1"), tmp_path, interpret=False)
    in_process(code.replace("{count}", "0"), tmp_path)


def test_a_hastened_interpreter_gives_the_same_bits(tmp_path: Path) -> None:
    in_process(
        f"""
        from triton.runtime import interpreter
        from draftproof.engines import module_of
        hasten = module_of(Path("{ENGINES}/_triton_interpreter.py"), "triton_interpreter_under_test").hasten

        @triton.jit
        def third(x):
            return x / 3.0

        @triton.jit
        def decide(out, rows, tokens, n: tl.constexpr):
            o = tl.arange(0, 4)
            row = tl.load(rows + tl.program_id(0) * n + o, mask=o < n, other=0.0)
            sums = tl.cumsum(third(row), axis=0)
            found = tl.argmax((sums > tl.rand(7, tl.program_id(0))).to(tl.int32), axis=0)
            tl.store(out + tl.program_id(0) * 2, tl.sum(sums) + tl.load(tokens + found).to(tl.float32))
            tl.store(out + tl.program_id(0) * 2 + 1, tl.max(row.to(tl.float16)).to(tl.float32))

        def results():
            torch.manual_seed(1)
            rows, tokens, out = torch.rand(5, 3), torch.arange(100, 104), torch.zeros(5, 2)
            decide[(5,)](out, rows, tokens, 3)
            taped = run(uniforms, 3, 0, 4, tape=Tape([[0.5, 0.25, 0.125, 0.75, 0.0625]], 3))
            return [*out.flatten().tolist(), *taped, *run(integers, 3, 4, dtype=torch.int64, tape=Tape([[0.3] * 4], 3))]

        before, patches, replace = results(), [], interpreter._patch_builtin
        interpreter._patch_builtin = lambda *given: patches.append(given) or replace(*given)
        assert results() == before and patches
        hasten(), hasten()
        assert results() == before
        patches.clear()
        assert results() == before and not patches   # nothing is replaced again
        """,
        tmp_path,
    )
