"""Without pandas, matplotlib or torch, an error says what to install, before any work."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import draftproof
from draftproof import costs as costs_module
from draftproof.acceptance import Lengths
from draftproof.results import Distribution, Outcome, TierResult, Verdict
from draftproof.survey import Acceptance, AcceptanceRow
from draftproof.tune.command import run_command

RESULTS = {
    "Verdict": Verdict("mine", (TierResult("proof", "passed", 3),)),
    "Distribution": Distribution("mine", (Outcome((0,), "ok", 1.0),), 0.0, 0.0, "settled", 1, 1),
    "Acceptance": Acceptance("zipf", (AcceptanceRow("mine", 1, 0.5, 0.4, 0.6, 0.7, 10),)),
    "Lengths": Lengths.of_marginal([0.5]),
    "AcceptedLengths": draftproof.AcceptedLengths("mine", Lengths.of_marginal([0.5]), (), "doubles", 0.5, 0.5),
}


def without(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    """Makes imports of the library fail."""
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize(("member", "library"), [("to_frame", "pandas"), ("plot", "matplotlib")])
def test_results(monkeypatch: pytest.MonkeyPatch, name: str, member: str, library: str) -> None:
    without(monkeypatch, library)
    with pytest.raises(ImportError, match=rf"^{member}: got no {library} \(.*expected draftproof\[plots\]") as caught:
        getattr(RESULTS[name], member)()
    assert type(caught.value) is ImportError and caught.value.name == library


@pytest.mark.parametrize("name", RESULTS)
def test_results_with_the_libraries(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    assert isinstance(RESULTS[name].to_frame(), pandas.DataFrame)
    axes = RESULTS[name].plot()
    assert RESULTS[name].plot(axes) is axes


@pytest.mark.parametrize("name", RESULTS)
def test_other_axes_are_named(name: str) -> None:
    with pytest.raises(ValueError, match="axes: got 'left', expected matplotlib's axes"):
        RESULTS[name].plot("left")


def test_tune_ends_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(*given: Any) -> Any:
        raise AssertionError("got work, expected an error before it")

    monkeypatch.setattr("draftproof.tune.command.read_costs", work)
    asked = ["zipf:V=8", "--costs", "costs.json", "--plot"]
    with monkeypatch.context() as patch:
        without(patch, "matplotlib")
        assert run_command([*asked, str(tmp_path / "tune.png")]) == 2
    assert "draftproof tune: --plot: got no matplotlib (" in (said := capsys.readouterr().err)
    assert "expected draftproof[plots] installed" in said and len(said.splitlines()) == 1
    pytest.importorskip("matplotlib")
    assert run_command([*asked, str(tmp_path / "tune.draw")]) == 2
    assert "tune.draw', expected a name that ends in " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["decode", "costs", "capture"])
def test_commands_without_torch(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variable in ("TQDM_DISABLE", "HF_HUB_DISABLE_PROGRESS_BARS", "TRANSFORMERS_VERBOSITY"):
        monkeypatch.setenv(variable, "1")
    (tmp_path / "texts.jsonl").write_text("[1, 2]")
    texts = ["--texts", str(tmp_path / "texts.jsonl")]
    arguments = {
        "decode": ["--target", "small", *texts],
        "costs": ["--target", "small"],
        "capture": ["--target", "small", "--draft", "small", *texts, "-o", str(tmp_path / "rows.npz")],
    }[name]
    # `costs` is a module here, and draftproof.decode and draftproof.capture are modules that can be called.
    main = costs_module.main if name == "costs" else getattr(draftproof, name).main
    without(monkeypatch, "torch")
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "torch: got not installed" in said and "expected `pip install torch`" in said and "Traceback" not in said


def test_functions_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    import draftproof.torch

    monkeypatch.delitem(vars(draftproof.torch), "ladder", raising=False)
    without(monkeypatch, "torch")
    with pytest.raises(ImportError, match=r"draftproof.torch.ladder: got no torch \(.*expected draftproof\[torch\]"):
        _ = draftproof.torch.ladder


def test_check_of_a_function_that_takes_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "torch")
    with pytest.raises(ImportError, match=r"^arrays='torch': got no torch \(.*expected draftproof\[torch\]"):
        draftproof.check(lambda p, q, drafts: [0], arrays="torch")
    with pytest.raises(draftproof.FunctionFailed, match=r"generator: got no torch \(.*expected draftproof\[torch\]"):
        draftproof.check(lambda p, q, drafts, generator: [0])
