"""Opens the models of a run, and makes drafters of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import torch

from ..capture.errors import CaptureError
from ..capture.hub import TransformersModel
from ..capture.layers import made_draft
from ..capture.models import open_model
from ..capture.options import Options
from ..capture.pair import Pair, pair
from ..capture.texts import encoded, read_texts
from ..capture.tokens import open_tokenizer
from ..program import short
from .check import check
from .context import Context
from .drafters import Drafter, Lookup, ModelDrafter, NGram
from .settings import Setting, Settings


class Models:
    """A target and at most one draft model, both of transformers.

    draft: as `capture` takes it; None for the target changed by `draft_skip_layers` or `quantise_draft`. If neither is
        set, there is no draft model.
    """

    def __init__(self, target: Any, draft: Any, settings: Settings, tokenizer: Any = None) -> None:
        self.settings = settings
        if settings.threads is not None:
            torch.set_num_threads(settings.threads)
        options = Options(
            device=settings.device,
            draft_skip_layers=settings.draft_skip_layers,
            quantise_draft=settings.quantise_draft,
        )
        self.target = opened(target, options, tokenizer)
        if tokenizer is not None:
            self.target.tokenizer = open_tokenizer(tokenizer)
        changed = bool(settings.draft_skip_layers) or settings.quantise_draft is not None
        self.draft: TransformersModel | None = None
        if draft is not None or changed:
            base = self.target if draft is None else opened(draft, options, None)
            made = made_draft(base, options)
            assert isinstance(made, TransformersModel)
            self.draft = made
        # Only the vocabularies and tokenizers are compared; a context checks lengths as it grows.
        least = Options(context=2, skip=1)
        self.pair: Pair = pair(self.target, {} if self.draft is None else {"draft": self.draft}, least)
        self.device = next(self.target.model.parameters()).device
        if settings.clock == "processor" and (self.device.type != "cpu" or torch.get_num_threads() > 1):
            found = f"processor with {torch.get_num_threads()} threads on {self.device.type}"
            wanted = "one thread (--threads 1) on a CPU: elsewhere processor time is not the time that a pass takes"
            raise CaptureError("clock", found, wanted)

    @property
    def vocabulary(self) -> int:
        return self.pair.vocabulary

    def check(self, todo: Sequence[Setting], prompts: list[list[int]]) -> None:
        """Compares rows of the models that these settings use, with a cache, with rows of passes without one, on tokens
        of the prompts.

        Raises: CaptureError if they differ. Cost: the passes of `check`.
        """
        trees = any(max(setting.shape.branching) > 1 for setting in todo)
        tokens = [token for prompt in prompts for token in prompt]
        check(self.target, trees, tokens)
        if self.draft is not None and any(setting.drafts == "model" for setting in todo):
            check(self.draft, trees, tokens)

    def prompts(self, texts: Any) -> list[list[int]]:
        """Returns the last tokens of each text, at most `settings.prompt`.

        Raises: CaptureError if the texts cannot be read or one has no token.
        """
        contents, _ = read_texts(texts)
        ids = encoded(contents, self.target.tokenizer, self.target.vocabulary())
        if empty := [i for i, text in enumerate(ids) if len(text) == 0]:
            raise CaptureError(f"texts[{empty[0]}]", "no token", "at least one")
        return [text[-self.settings.prompt :].tolist() for text in ids]

    def context(self, batch: int = 1) -> Context:
        """Returns an empty cache of the target."""
        return Context(self.target, self.settings.target_filter, self.vocabulary, batch)

    def draft_context(self, batch: int = 1) -> Context:
        """Returns an empty cache of the draft model.

        Raises: CaptureError if there is none.
        """
        if self.draft is None:
            wanted = "a draft model, or layers or bits by which the target becomes one"
            raise CaptureError("draft", "none", wanted)
        return Context(self.draft, self.settings.draft_filter, self.vocabulary, batch)

    def drafter(self, name: str) -> Drafter:
        """Returns a new drafter.

        name: `model`, `lookup` or `ngram`.
        """
        if name == "model":
            return ModelDrafter(self.draft_context())
        if name == "lookup":
            return Lookup(self.vocabulary, self.settings.lookup, self.device)
        return NGram(self.vocabulary, self.settings.order, self.device, self.settings.draft_filter)

    def described(self) -> dict[str, Any]:
        """Returns the fields of a result that name the models, the device, the threads and the clock."""
        return {
            "target": self.target.name,
            "draft": self.draft.name if self.draft else None,
            "device": self.device.type,
            "threads": torch.get_num_threads(),
            "clock": self.settings.clock,
        }

    def now(self) -> float:
        """Returns the seconds of the chosen clock, on a CUDA device after its queued work has ended."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.process_time() if self.settings.clock == "processor" else time.perf_counter()

    def generator(self, *numbers: int) -> torch.Generator:
        """Returns a generator on the target's device, seeded by the seed of the settings and `numbers`."""
        seed = self.settings.seed
        for number in numbers:
            seed = (seed * 1_000_003 + number + 1) % (1 << 62)
        return torch.Generator(self.device).manual_seed(seed)


def opened(given: Any, options: Options, tokenizer: Any) -> TransformersModel:
    """Opens a model. Raises: CaptureError if the model is not of transformers, whose caches are needed, or is loaded on
    another device than the one asked for. The device `cpu` is not compared, because it is the default."""
    model = open_model(given, options, tokenizer)
    if not isinstance(model, TransformersModel):
        raise CaptureError(
            "model", f"{model.name}, not a model of transformers", "a model of transformers with a cache"
        )
    device = next(model.model.parameters()).device
    if options.device != Options().device and not _names(options.device, device):
        found = f"{short(options.device)} for {model.name}, which is loaded on {device}"
        raise CaptureError("device", found, "no device: a loaded model stays where it is")
    return model


def _names(given: Any, device: torch.device) -> bool:
    """Whether `given` is this device, or its kind without a number."""
    try:
        named = torch.device(given)
    except (RuntimeError, TypeError):
        return False
    return named.type == device.type and (None in (named.index, device.index) or named.index == device.index)
