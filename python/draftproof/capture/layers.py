"""Makes drafts of a target by leaving out some of its layers or by rounding its linear weights."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from typing import Any

from .errors import CaptureError
from .hub import TransformersModel, library
from .models import Model
from .options import Options

GROUP = 32
"""Weights that share a scale, in storage order."""


def made_draft(base: Model, options: Options) -> Model:
    """Returns the draft that the options make of `base`, which is not changed.

    Raises: CaptureError if `base` is not a model of transformers, or lacks the layers.

    Cost: left-out layers take no memory. Quantisation copies the model.
    """
    if not options.draft_skip_layers and options.quantise_draft is None:
        return base
    if not isinstance(base, TransformersModel):
        raise CaptureError(
            "draft", f"{base.name}, not a model of transformers", "a model of transformers, whose layers can be changed"
        )
    about = base.describe()
    model, name = base.model, base.name
    if options.draft_skip_layers:
        model = without_layers(model, options.draft_skip_layers)
        about["skipped_layers"] = list(options.draft_skip_layers)
        about["parameters"] = sum(p.numel() for p in model.parameters())
        name += f" without layers {_ranges(options.draft_skip_layers)}"
    if options.quantise_draft is not None:
        model, about["quantised"] = quantised(model, options.quantise_draft)
        name += f", {about['quantised']}"
    return TransformersModel(model, name, base.tokenizer, {"weights": about["weights"], **_made(about)})


def without_layers(model: Any, skip: Iterable[int]) -> Any:
    """Returns a model that shares the weights of `model` but does not have the layers `skip`.

    The list of layers is the first module list with as many entries as the config has hidden layers. The modules that
    contain it are copied without their weights, and so is the config.

    Raises: CaptureError if `skip` has other layers or all layers, or the model has no such list.
    """
    torch = library("torch")
    count = int(model.config.get_text_config().num_hidden_layers)
    skipped = set(skip)
    if not skipped < set(range(count)):
        raise CaptureError("draft_skip_layers", str(sorted(skipped)), f"some, not all, of layers 0 to {count - 1}")
    lists = [
        name
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.ModuleList) and len(module) == count
    ]
    if not lists:
        raise CaptureError("draft_skip_layers", type(model).__name__, f"a model with a list of {count} layers")
    config = _config_without(model.config, skipped, count)
    clone = module = _shallow(model, config)
    *around, last = lists[0].split(".")
    for name in around:
        inner = _shallow(module._modules[name], config)
        module._modules[name] = inner
        module = inner
    layers = module._modules[last]
    kept = [layers[i] for i in range(count) if i not in skipped]
    module._modules[last] = torch.nn.ModuleList([_renumbered(layer, i) for i, layer in enumerate(kept)])
    return clone.eval()


def quantised(model: Any, how: str | int) -> tuple[Any, str]:
    """Returns a copy of `model` with its linear weights quantised, and a description of the quantisation.

    how: `int8`, for torch's dynamic quantisation, or for rounding to 8 bits if this release or processor does not
        support it or the model has linear modules of transformers (Conv1D); or the number of bits of the rounding.
    """
    torch = library("torch")
    foreign = any(type(module).__name__ == "Conv1D" for module in model.modules())
    if how == "int8" and not foreign:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                done = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
            return done.eval(), "int8 dynamic quantisation of torch"
        except (AttributeError, RuntimeError):
            pass  # This release of torch has no quantize_dynamic, or its kernels do not support the processor.
    bits = 8 if how == "int8" else int(how)
    done = copy.deepcopy(model)
    for module in done.modules():
        if isinstance(module, torch.nn.Linear) or type(module).__name__ == "Conv1D":
            module.weight = torch.nn.Parameter(rounded(module.weight.detach(), bits), requires_grad=False)
    return done.eval(), f"linear weights rounded to {bits} bits in groups of {GROUP}"


def rounded(weights: Any, bits: int) -> Any:
    """Returns the weights rounded to multiples of a scale. Each group of 32 values in storage order has one scale: the
    largest magnitude in the group divided by 2^(bits-1) - 1. The last group may be shorter."""
    torch = library("torch")
    flat = weights.flatten()
    groups = torch.nn.functional.pad(flat, (0, -flat.numel() % GROUP)).view(-1, GROUP)
    scale = groups.abs().amax(dim=1, keepdim=True) / (2 ** (bits - 1) - 1)
    steps = torch.where(scale > 0, groups / torch.where(scale > 0, scale, 1), 0).round()
    return (steps * scale).flatten()[: flat.numel()].view_as(weights)


def _shallow(module: Any, config: Any) -> Any:
    """Returns a copy of a module that shares its weights and submodules. `config` replaces the module's config."""
    clone = copy.copy(module)
    clone._modules = dict(module._modules)
    if "config" in module.__dict__:
        clone.config = config
    return clone


def _renumbered(module: Any, index: int) -> Any:
    """Returns a copy of a layer that shares its weights, with `index` as the `layer_idx` of its modules. A cache is
    indexed by `layer_idx` and reads the length of the text from layer 0, so the numbers must have no gap."""
    clone = copy.copy(module)
    inner = module._modules.items()
    clone._modules = {name: None if one is None else _renumbered(one, index) for name, one in inner}
    if "layer_idx" in module.__dict__:
        clone.layer_idx = index
    return clone


def _config_without(config: Any, skipped: set[int], count: int) -> Any:
    """Returns a copy of the config without the skipped layers: the number of layers is lower, and every list with one
    entry per layer is shorter."""
    config = copy.deepcopy(config)
    inner = config.get_text_config()
    inner.num_hidden_layers = count - len(skipped)
    for name, value in list(vars(inner).items()):
        if isinstance(value, list) and len(value) == count:
            setattr(inner, name, [entry for i, entry in enumerate(value) if i not in skipped])
    return config


def _made(about: dict[str, Any]) -> dict[str, Any]:
    return {name: about[name] for name in ("gguf_file", "skipped_layers", "quantised", "parameters") if name in about}


def _ranges(layers: Iterable[int]) -> str:
    runs: list[list[int]] = []
    for layer in sorted(layers):
        if runs and runs[-1][1] == layer - 1:
            runs[-1][1] = layer
        else:
            runs.append([layer, layer])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)
