"""Compiles a .cu file of this folder, a C interface to an engine's kernels, with nvcc, and calls it through ctypes."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from draftproof.engines import Missing


def compiler() -> str:
    """Returns the path of nvcc. Raises: Missing."""
    for place in (os.environ.get("CUDACXX"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"):
        if place and Path(place).is_file():
            return place
    raise Missing("no nvcc to compile kernels with")


def architecture() -> str:
    """Returns the architecture of torch's device, such as sm_90; sm_90 without a device."""
    import torch

    return "sm_{}{}".format(*torch.cuda.get_device_capability()) if torch.cuda.is_available() else "sm_90"


def build(file: str, root: Path, includes: Sequence[str], defines: Sequence[str] = ()) -> Path:
    """Returns the path of the library compiled from `file`, in `root`. The file is compiled again only if its text, the
    folders of headers (below `root`), the defined names or the architecture changed. Raises: Missing."""
    source, wanted = Path(__file__).with_name(file), architecture()
    made_of = source.read_bytes() + repr((includes, defines, wanted)).encode()
    result = root / f"{source.stem.strip('_')}-{hashlib.sha256(made_of).hexdigest()[:12]}.so"
    if result.is_file():
        return result
    lacking = [one for one in includes if not (root / one).is_dir()]
    if lacking:
        raise Missing(f"{file}: no folder {lacking[0]} in {root}")
    part = result.with_suffix(f".{os.getpid()}.part")
    command = [compiler(), f"-arch={wanted}", "-O2", "-std=c++20", "-shared", "-Xcompiler", "-fPIC"]
    command += ["--compress-mode=size", "-Xlinker", "-s", "-cudart", "static", *(f"-D{one}" for one in defines)]
    command += [f"-I{root / one}" for one in includes]
    said = subprocess.run([*command, str(source), "-o", str(part)], capture_output=True, text=True)
    if said.returncode != 0:
        raise Missing(f"{file} does not compile: {(said.stderr or said.stdout).strip()[-400:]}")
    part.replace(result)
    return result


class Library:
    """A compiled library, whose functions launch kernels on tensors, on torch's current stream."""

    def __init__(self, path: Path) -> None:
        self._functions = ctypes.CDLL(str(path))

    def call(self, name: str, *given: Any) -> None:
        """Calls the function `name` with the addresses of tensors and with other values as they are. Raises:
        RuntimeError if a tensor is not contiguous, or if the function returns a CUDA error."""
        import torch

        def as_c(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                if not value.is_contiguous():
                    raise RuntimeError(f"{name}: got a tensor of strides {value.stride()}, expected a contiguous one")
                return ctypes.c_void_p(value.data_ptr())
            return ctypes.c_float(value) if isinstance(value, float) else value

        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        status = getattr(self._functions, name)(*map(as_c, given), stream)
        if status != 0:
            raise RuntimeError(f"{name}: got status {status} of CUDA, expected 0")
