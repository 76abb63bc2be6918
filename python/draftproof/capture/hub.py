"""Models and tokenizers of transformers, by name, by folder, by .gguf file, or already loaded.

torch and transformers are imported when the first model or tokenizer is opened.
"""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..program import short
from .errors import CaptureError
from .models import Ids, Model, to_numpy
from .options import Options
from .tokens import Loaded, Tokenizer, open_tokenizer


class TransformersModel(Model):
    """A causal language model of transformers, on one device, without dropout.

    about: more fields for `describe`, which cannot be read from the model itself.
    """

    def __init__(self, model: Any, name: str, tokenizer: Tokenizer | None, about: dict[str, Any]) -> None:
        self.model = model
        self.name = name
        self.tokenizer = tokenizer
        self._torch = import_module("torch")
        self._device = next(model.parameters()).device
        self._about = about
        config = model.config.get_text_config()
        self._vocabulary = int(config.vocab_size)
        arguments = inspect.signature(model.forward).parameters
        self._keeps = "logits_to_keep" in arguments
        self.cache_name = "cache" if "cache" in arguments else "past_key_values"
        """Name of the argument of `forward`, and of the field of its result, for the key-value cache: `cache` or, in
        versions of transformers where `forward` has no such argument, `past_key_values`."""
        longest = getattr(config, "max_position_embeddings", None)
        self.longest = int(longest) if longest else None
        self.ends = _ends(model)
        self._repeats = True  # until a pass returns a cache that cannot be repeated

    def vocabulary(self) -> int:
        return self._vocabulary

    def rows(self, ids: Ids, at: Sequence[int]) -> NDArray[Any]:
        """Runs one pass over `ids`. Models with `logits_to_keep` compute logits only at `at`. Tokens with which all
        sequences begin, before the first row, are passed once, and their cache is repeated for every sequence."""
        torch = self._torch
        with torch.inference_mode():
            given = torch.as_tensor(ids[:, : max(at) + 1], device=self._device)
            shared, extra = self._passed_once(given, min(at))
            wanted = torch.as_tensor(list(at), device=self._device) - shared
            if self._keeps:
                extra["logits_to_keep"] = wanted
            logits = self.model(input_ids=given[:, shared:], **extra).logits
            if logits.shape[1] != len(at):
                logits = logits[:, wanted]
            return self._checked(to_numpy(logits))

    def _passed_once(self, given: Any, most: int) -> tuple[int, dict[str, Any]]:
        """Returns the number of tokens, at most `most`, with which all sequences [B, n] begin, and the arguments of a
        pass over the others. The number is 0 for one sequence, and for models whose cache cannot be repeated: models
        without a key-value cache, and models with recurrent layers, whose states transformers does not repeat."""
        without = {"use_cache": False}
        differ = (given[:, :most] != given[:1, :most]).any(0).nonzero()
        shared = int(differ[0]) if len(differ) else most
        if len(given) == 1 or shared == 0 or not self._repeats:
            return 0, without
        keep_one = {"logits_to_keep": 1} if self._keeps else {}
        past = self.model(input_ids=given[:1, :shared], use_cache=True, **keep_one).get(self.cache_name)
        layers = getattr(past, "layers", None) or [None]
        self._repeats = all(
            hasattr(one, "batch_repeat_interleave") and not hasattr(one, "conv_states") for one in layers
        )
        if not self._repeats:
            return 0, without
        past.batch_repeat_interleave(len(given))
        return shared, {"use_cache": True, self.cache_name: past}

    def continued(self, ids: Ids, count: int, choose: Callable[[NDArray[Any]], int]) -> Ids:
        """Runs one pass over `ids` and then one pass for each token, with the model's cache. Models whose passes return
        no key-value cache read all tokens again in every pass."""
        torch = self._torch
        past, fresh = None, ids[:0]
        with torch.inference_mode():
            for _ in range(count):
                given = torch.as_tensor((ids if past is None else fresh)[None], device=self._device)
                result = self.model(input_ids=given, use_cache=True, **{self.cache_name: past})
                past = result.get(self.cache_name)
                fresh = np.array([choose(self._checked(to_numpy(result.logits[:, -1:]))[0, 0])], dtype=np.int64)
                ids = np.append(ids, fresh)
        return ids

    def describe(self) -> dict[str, Any]:
        config = self.model.config
        return {
            "kind": "transformers",
            "class": type(self.model).__name__,
            "parameters": sum(p.numel() for p in self.model.parameters()),
            "versions": {name: str(import_module(name).__version__) for name in ("torch", "transformers")},
            "commit": getattr(config, "_commit_hash", None),
            "device": self._device.type,
            "threads": self._torch.get_num_threads() if self._device.type == "cpu" else None,
            **self._about,
        }

    def _checked(self, logits: NDArray[Any]) -> NDArray[Any]:
        if logits.shape[-1] != self._vocabulary:
            raise CaptureError(self.name, f"rows of {logits.shape[-1]}", f"{self._vocabulary}, as its config says")
        return logits


def open_transformers(given: Any, options: Options, tokenizer: Any = None) -> TransformersModel:
    """Opens a model by name, folder or .gguf file, in float32 on a CPU. A loaded model keeps its type and device.

    Raises: CaptureError if transformers is missing or the model cannot be loaded.
    """
    library("torch")  # transformers without torch fails later, with an error that does not name torch
    transformers = library("transformers")
    own = open_tokenizer(tokenizer)
    if isinstance(given, transformers.PreTrainedModel):
        name = str(given.config.name_or_path or type(given).__name__)
        return TransformersModel(given.eval(), name, own, {"weights": fingerprint(given)})
    spec = os.fspath(given)
    folder, extra = _split_gguf(spec)
    dtype = {"dtype": library("torch").float32} if options.device == "cpu" else {}
    try:
        opened = transformers.AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True, **dtype, **extra)
    except Exception as error:  # transformers raises the errors of several libraries for damaged files
        raise CaptureError("model", f"{spec!r}: {_first_line(error)}", "a causal model of transformers") from error
    model, about = opened
    if missing := sorted(about["missing_keys"]):
        # transformers fills weights that the file lacks with random values, and only logs a warning.
        found = f"{spec!r} without {missing[0]}" + (f" and {len(missing) - 1} more weights" if missing[1:] else "")
        raise CaptureError("model", found, "a file with all weights")
    try:
        model = model.to(options.device).eval()
    except (RuntimeError, TypeError, AssertionError) as error:  # torch raises each of them
        found = f"{short(options.device)} ({_first_line(error)})"
        raise CaptureError("device", found, "a device that torch has here, with memory for the model") from error
    if next(model.parameters()).is_meta:
        raise CaptureError("device", short(options.device), "a device whose tensors have elements")
    return TransformersModel(model, spec, own or _tokenizer_beside(spec), {"weights": fingerprint(model), **extra})


def load_tokenizer(given: Any) -> Tokenizer:
    """Returns the tokenizer of a name, folder or .gguf file.

    Raises: CaptureError if transformers is missing or the tokenizer cannot be loaded.
    """
    spec = os.fspath(given)
    folder, extra = _split_gguf(spec)
    try:
        found = Loaded(library("transformers").AutoTokenizer.from_pretrained(folder, **extra))
        found.name = spec  # for a .gguf file transformers uses the name of the folder
        return found
    except CaptureError:
        raise
    except Exception as error:  # as for models
        raise CaptureError("tokenizer", f"{spec!r}: {_first_line(error)}", "a tokenizer of transformers") from error


def library(name: str) -> Any:
    """Imports an optional library.

    Raises: CaptureError if it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise CaptureError(name, f"not installed ({error})", f"`pip install {name}`") from error


def fingerprint(model: Any) -> str:
    """Returns a hash of the name, type, shape and first 1,024 values of every parameter. It identifies the weights."""
    digest = hashlib.sha256()
    for name, parameter in model.named_parameters():
        digest.update(f"{name} {tuple(parameter.shape)} {parameter.dtype}".encode())
        digest.update(parameter.detach().flatten()[:1024].float().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def _tokenizer_beside(spec: str) -> Tokenizer | None:
    """Returns the tokenizer of a model, or None if the model has no tokenizer. This is no error, because texts may be
    given as ids."""
    try:
        return load_tokenizer(spec)
    except CaptureError:
        return None


def _split_gguf(spec: str) -> tuple[str, dict[str, str]]:
    """Returns the folder or the name of the repository, and the arguments of `from_pretrained` for a .gguf file."""
    if not spec.endswith(".gguf"):
        return spec, {}
    folder, slash, file = spec.rpartition("/")
    if (not slash or Path(folder).is_dir() or Path(folder).is_absolute()) and not Path(spec).is_file():
        wanted = "a .gguf file; if it comes in parts, join them first, for example with `cat`"
        raise CaptureError("model", f"no file {spec!r}", wanted)
    return (folder if slash else str(Path(".").absolute())), {"gguf_file": file}


def _ends(model: Any) -> frozenset[int]:
    found = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    if found is None:
        found = getattr(model.config, "eos_token_id", None)
    return frozenset(found if isinstance(found, (list, tuple)) else [] if found is None else [int(found)])


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
