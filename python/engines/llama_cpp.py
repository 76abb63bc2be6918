"""llama.cpp: its examples of speculative decoding as llama-cpp-python ships them, compiled unchanged, with two tables
of next-token distributions in place of the models."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, Missing

FLAGS = ("-std=c++17", "-O2", "-w")
INCLUDE = ("include", "common", "ggml/include", "src", "vendor")
SHARED = ("-fPIC", "-fsemantic-interposition", "-shared")
# Functions that the libraries name but never call have no definition, so the linker must ignore unresolved symbols.
LINKED = ("-rdynamic", "-Wl,-z,lazy", "-Wl,--unresolved-symbols=ignore-in-shared-libs")
HERE = Path(__file__).parent


def program(example: str, libraries: tuple[str, ...]) -> Path:
    """Returns the program of an example, linked with llama_cpp_tables.cpp and, as shared libraries, files of common/.
    A function of llama_cpp_tables.cpp replaces the library's function of the same name. Raises: Missing if there is no
    compiler or a file does not compile."""
    root = ENGINE.root() / "vendor" / "llama.cpp"
    source, tables = root / "examples" / example / f"{example}.cpp", HERE / "llama_cpp_tables.cpp"
    if not source.is_file():
        raise Missing(f"the package has no examples/{example}/{example}.cpp")
    built = ENGINE.folder / f"{example}_on_tables"
    if built.is_file() and built.stat().st_mtime > tables.stat().st_mtime:
        return built
    compiler = [os.environ.get("CXX", "c++"), *FLAGS, *(f"-I{root / folder}" for folder in INCLUDE)]
    part, shared = ENGINE.folder / f"{example}.o", [ENGINE.folder / f"lib{name}.so" for name in libraries]
    for command in (
        *(
            [*compiler, *SHARED, str(root / "common" / f"{name}.cpp"), "-o", str(library)]
            for name, library in zip(libraries, shared, strict=True)
        ),
        [*compiler, "-Dmain=llama_speculative_main", "-c", str(source), "-o", str(part)],
        [
            *compiler,
            *LINKED,
            f"-Wl,-rpath,{ENGINE.folder}",
            str(tables),
            str(part),
            *map(str, shared),
            "-o",
            str(built),
        ],
    ):
        try:
            said = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            raise Missing(f"no C++ compiler: {error}") from None
        if said.returncode != 0:
            raise Missing(f"does not compile: {said.stderr.strip().splitlines()[0]}")
    return built


def generator(top_k: int, sequences: int, mode: int) -> Any:
    built = program("speculative-simple", ("sampling", "speculative")) if mode else program("speculative", ())

    def generate(target: Any, proposal: Any, length: int, drafts: int) -> Any:
        seed = random.randrange(2**30)  # the host seeds `random`
        with tempfile.TemporaryDirectory(prefix="draftproof-") as folder:
            place = Path(folder) / "tables"
            rows = [" ".join(f"{x:.9g}" for x in row) for table in (target, proposal) for row in np.asarray(table)]
            place.write_text("\n".join([str(len(target)), *rows]) + "\n")
            options = [str(x) for x in (length, drafts, sequences, top_k, seed, mode)]
            said = subprocess.run([str(built), str(place), *options], capture_output=True, timeout=300)
        if said.returncode != 0:
            raise RuntimeError(f"exit code {said.returncode}: {said.stderr.decode(errors='replace')[:200]}")
        return np.frombuffer(said.stdout, np.int32)[:length]

    return generate


def whole(name: str, top_k: int = 0, sequences: int = 1, mode: int = 0) -> Any:
    return adapter(None, name=name, arrays="numpy", generate=generator(top_k, sequences, mode))


ENGINE = Engine(
    sdist="llama-cpp-python==0.3.36",
    replaces="libllama and libcommon, by two tables of next-token distributions",
    adapters=(
        EngineAdapter(
            "speculative",
            lambda: whole("llama_cpp_speculative"),
            tiers=("sampled",),
            note="whole texts at temperature 1, one draft sequence, no truncation",
        ),
        EngineAdapter(
            "speculative_three_sequences", lambda: whole("llama_cpp_speculative_three", sequences=3), tiers=("sampled",)
        ),
        EngineAdapter(
            "speculative_simple",
            lambda: whole("llama_cpp_speculative_simple", mode=1),
            tiers=("sampled",),
            note="with common/speculative (a draft model) and the acceptance of common/sampling, unchanged",
        ),
        EngineAdapter(
            "speculative_simple_checkpoints",
            lambda: whole("llama_cpp_speculative_checkpoints", mode=2),
            tiers=("sampled",),
            note="the same where the models go back to checkpoints alone, as recurrent ones do",
        ),
    ),
)
