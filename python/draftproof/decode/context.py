"""A model with its cache: a text, and a tree of drafts after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..capture.distributions import filtered, log_distribution
from ..capture.errors import CaptureError
from ..capture.hub import TransformersModel, library
from ..capture.models import to_numpy
from ..capture.options import Filter

_WINDOWS = {
    "sliding_attention": "sliding_window",
    "chunked_attention": "attention_chunk_size",
    "local": "window_size",
}
"""For each kind of layers with a window, the name of its length in a config."""


class Context:
    """A model with a cache, which has the keys and values of the text and of all nodes fed since the last `commit`.

    Nodes are numbered 0, 1, .. in the order in which they were fed; -1 is the end of the text.
    batch: number of copies of the sequence that every pass computes, to measure times.
    """

    def __init__(self, model: TransformersModel, by: Filter, vocabulary: int, batch: int = 1) -> None:
        self._model, self._by, self._vocabulary, self._batch = model, by, vocabulary, batch
        self._window = _window(model.model.config)
        self._cache: Any = library("transformers").DynamicCache()
        if not hasattr(self._cache, "layers"):
            raise CaptureError("transformers", "a release whose caches have no layers", "a later release")
        self.text: list[int] = []
        self.nodes: list[int] = []
        self._ancestors: list[tuple[int, ...]] = []
        self._chain = True

    @property
    def longest(self) -> int | None:
        """The most tokens of a text with the drafts after it; None if the model has no limit."""
        return min((most for most in (self._model.longest, self._window) if most is not None), default=None)

    @property
    def cached(self) -> int:
        """The number of tokens in the cache. It stays 0 for models that keep their state elsewhere."""
        return int(self._cache.get_seq_length())

    def feed(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> Tensor:
        """Adds nodes and returns the distribution [n, V] after each.

        parents: for each token the node before it; None for a chain after the last node.

        Raises: CaptureError if the text becomes longer than the model takes, or if logits are no distribution.
        Cost: one pass over the new nodes.
        """
        with torch.inference_mode():
            logits = self.logits(tokens, parents)
            return distributions(logits[0] if self._batch == 1 else logits, self._by, self._vocabulary)

    def logits(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> Tensor:
        """Adds nodes as `feed` does and returns the logits [batch, n, V of the model] after each."""
        before = len(self.nodes)
        given = [before - 1 + i for i in range(len(tokens))] if parents is None else list(parents)
        for i, (token, parent) in enumerate(zip(tokens, given, strict=True)):
            self._chain &= parent == before + i - 1
            self._ancestors.append((*(self._ancestors[parent] if parent >= 0 else ()), before + i))
            self.nodes.append(token)
        depth = max(len(ancestors) for ancestors in self._ancestors[before:])
        self._check_length(len(self.text) + depth)
        device = next(self._model.model.parameters()).device
        extra: dict[str, Any] = {} if self._chain else self._tree_arguments(before, device)
        with torch.inference_mode():
            # A token that the model lacks has p = 0 at the target, which never uses the row after it; a draft model may
            # propose anything after it. So both read such a token as the last one that they have.
            known = torch.tensor([list(tokens)], device=device).clamp(max=self._model.vocabulary() - 1)
            ids = known.expand(self._batch, -1)
            result = self._model.model(input_ids=ids, use_cache=True, **{self._model.cache_name: self._cache}, **extra)
            self._check_rows(result.logits[0], before)
            logits: Tensor = result.logits
            return logits

    def commit(self, path: Sequence[int]) -> None:
        """Appends the nodes of `path`, which begins at the end of the text, to the text. Removes all other nodes from
        the cache, because the next pass would otherwise attend to rejected drafts.
        """
        kept = len(self.text)
        if list(path) == list(range(len(path))):
            if len(path) < len(self.nodes):
                self._cache.crop(len(path) - len(self.nodes))
        else:
            index = torch.tensor([kept + node for node in path], device=self._cache.layers[0].keys.device)
            for layer in self._cache.layers:
                layer.keys = torch.cat([layer.keys[..., :kept, :], layer.keys[..., index, :]], dim=-2)
                layer.values = torch.cat([layer.values[..., :kept, :], layer.values[..., index, :]], dim=-2)
        self.text += [self.nodes[node] for node in path]
        self.nodes, self._ancestors, self._chain = [], [], True

    def _tree_arguments(self, before: int, device: torch.device) -> dict[str, Any]:
        """Returns the arguments of a pass over a tree: the position of each node, by its depth, and a mask by which a
        node attends only to the text and to the nodes on its path."""
        kept, fresh = len(self.text), self._ancestors[before:]
        dtype = self._model.model.dtype
        mask = torch.full((len(fresh), kept + len(self.nodes)), torch.finfo(dtype).min, dtype=dtype)
        mask[:, :kept] = 0
        for i, ancestors in enumerate(fresh):
            mask[i, [kept + node for node in ancestors]] = 0
        positions = torch.tensor([[kept + len(ancestors) - 1 for ancestors in fresh]], device=device)
        return {"attention_mask": mask[None, None].to(device), "position_ids": positions}

    def _check_rows(self, logits: Tensor, before: int) -> None:
        """Checks the logits [n, V] after the nodes from `before` on, as `capture` does. Without the check, drafts from
        rows of NaN are tokens that the verifiers accept, and top-k removes a NaN."""
        bad = ~torch.isfinite(logits.amax(-1))  # The largest entry of a row is NaN if any entry is.
        if bad.any():
            i = int(bad.nonzero()[0])
            place = f"{self._model.name}, after {len(self.text) + len(self._ancestors[before + i])} tokens"
            log_distribution(to_numpy(logits[i]), "logit", place)

    def _check_length(self, length: int) -> None:
        most = self._model.longest
        if most is not None and length > most:
            raise CaptureError("tokens", f"a text of {length:,} tokens", f"at most {most:,} for {self._model.name}")
        held = len(self.text) + len(self.nodes)  # GPT-Neo counts the nodes of a tree in its window, not their depth.
        if self._window is not None and held > self._window:
            wanted = f"at most {self._window:,}, the attention window of {self._model.name}: the cache keeps all tokens"
            raise CaptureError("tokens", f"a text of {held:,} tokens with its drafts", wanted)


def distributions(logits: Tensor, by: Filter, vocabulary: int) -> Tensor:
    """Returns probabilities [.., V] in float32 after temperature, top-k and top-p, 0 for tokens the model lacks."""
    if by.temperature > 0 and by.top_p == 1:
        rows = logits.float()
        if 0 < by.top_k < rows.shape[-1]:
            rows = rows.masked_fill(~_likeliest(rows, by.top_k), -torch.inf)
        rows = torch.softmax(rows if by.temperature == 1 else rows / by.temperature, dim=-1)
    else:
        flat = to_numpy(logits).reshape(-1, logits.shape[-1])
        made = [torch.from_numpy(filtered(log_distribution(row, "logit", "row"), by)) for row in flat]
        rows = torch.stack(made).float().reshape(logits.shape).to(logits.device)
    missing = vocabulary - rows.shape[-1]
    return torch.nn.functional.pad(rows, (0, missing)) if missing else rows


def _likeliest(rows: Tensor, count: int) -> Tensor:
    """Returns whether each entry [.., V] is among the `count` largest of its row; among equal ones the lower id is."""
    least = rows.topk(count).values[..., -1:]
    above, equal = rows > least, rows == least
    return above | (equal & (equal.cumsum(-1) <= count - above.sum(-1, keepdim=True)))


def _window(config: Any) -> int | None:
    """Returns the window of a model with layers that attend to the last tokens or to a chunk of the text only, else
    None."""
    inner = config.get_text_config()
    kinds = getattr(inner, "layer_types", None) or getattr(inner, "attention_layers", None)
    found = []
    for kind, name in _WINDOWS.items():
        # Models without a list of layers have one kind of layers, which have a window if the config names one. The
        # chunk of Llama-4 and the window of GPT-Neo are set also where no layer has them.
        if kind in kinds if kinds is not None else kind == "sliding_attention":
            found.append(getattr(inner, name, None))
    if not getattr(inner, "use_sliding_window", True):
        return None
    return min((int(window) for window in found if window), default=None)
