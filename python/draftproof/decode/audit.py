"""Records the calls of a run, scores the emitted texts again without cache, and audits them."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch

from .. import program
from ..capture.errors import CaptureError
from ..capture.recorder import Recorder, folder_of
from ..capture.scored_again import score_again
from .loop import Call
from .models import Models
from .settings import Setting

WHOLE_ROWS = 4096
"""Largest V for which rows are recorded whole. For larger V a record has the KEPT likeliest tokens of its row."""
KEPT = 256


class Trails:
    """The recordings of a run, one for each setting.

    folder: the folder in which the recordings stay; None for a temporary folder.

    Raises: CaptureError if the folder does not exist. ProgramNotFound, because the audit is a command of the program.
    """

    def __init__(self, models: Models, prompts: list[list[int]], folder: str | Path | None) -> None:
        program.find()
        self._models, self._prompts = models, prompts
        self._temporary = folder is None
        self._folder = Path(tempfile.mkdtemp(prefix="draftproof-decode-") if folder is None else folder)
        if not self._folder.is_dir():
            raise CaptureError("traces", f"no folder {str(self._folder)!r}", "a folder that exists")
        self._open: dict[int, Recorder] = {}
        self._requests: dict[int, int] = {}

    def add(self, number: int, setting: Setting, request: int, calls: list[Call]) -> None:
        """Records the calls of one text. Raises: CaptureError if the recording of the setting exists already."""
        vocabulary = self._models.vocabulary
        if number not in self._open:
            self._open[number] = Recorder(
                self._path(number),
                vocabulary,
                top=None if vocabulary <= WHOLE_ROWS else KEPT,
                draft_sampling=setting.shape.sampling,
                engine=f"draftproof decode, {setting}",
            )
        self._requests[request] = request % len(self._prompts)
        for call in calls:
            _record(self._open[number], call, request, vocabulary)

    def judged(self, number: int) -> dict[str, Any]:
        """Closes a recording, scores its texts again and audits them.

        Returns: the verdict, the number of tokens, log10 of the e-value against losslessness and of its threshold, the
        smallest total variation that the audit would have detected, None if there is none, and the violations,
        as the program's `audit` prints them.
        """
        self._open[number].close()
        again = self._path(number).with_suffix(".again.safetensors")
        prompts = {request: self._prompts[text] for request, text in self._requests.items()}
        settings = self._models.settings
        records = score_again(self._path(number), again, self._models.target, prompts, settings=settings.target_filter)
        document = program.run(["audit", str(again)])
        if self._temporary:
            again.unlink()
            self._path(number).unlink()
        told = {name: document[name] for name in ("log10_e", "log10_threshold", "violations")}
        return {"verdict": document["status"], "tokens": records, **told, "shows": document.get("shows")}

    def close(self) -> None:
        """Removes the temporary folder, and the unfinished files of recordings that were not judged."""
        for number, recorder in self._open.items():
            recorder.close()
            shutil.rmtree(folder_of(self._path(number)), ignore_errors=True)
        if self._temporary:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"setting_{number}.safetensors"


def _record(recorder: Recorder, call: Call, request: int, vocabulary: int) -> None:
    made = call.made
    row_of = {node: i for i, node in enumerate(made.rows)}
    q = torch.stack(list(made.rows.values())) if made.rows else torch.zeros(0, vocabulary)
    recorder.block(
        call.p,
        q,
        [draw.token for draw in made.draws],
        call.emitted,
        accepted=call.accepted,
        parents=[draw.before for draw in made.draws],
        draft_rows=[row_of[made.parents[draw.node]] for draw in made.draws],
        request=request,
    )
