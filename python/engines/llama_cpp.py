"""llama.cpp: its examples of speculative decoding and its server as llama-cpp-python ships them, compiled unchanged,
with two tables of next-token distributions in place of the models."""

from __future__ import annotations

import json
import os
import random
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from draftproof.declare import adapter
from draftproof.engines import Engine, EngineAdapter, Missing, beside

FLAGS = ("-std=c++17", "-O2", "-w")
INCLUDE = ("include", "common", "ggml/include", "src", "vendor")
SHARED = ("-fPIC", "-fsemantic-interposition", "-shared")
# Functions that the libraries name but never call have no definition, so the linker must ignore unresolved symbols.
LINKED = ("-rdynamic", "-Wl,-z,lazy", "-Wl,--unresolved-symbols=ignore-in-shared-libs")
HERE = Path(__file__).parent
OF_SERVER = (
    *(f"tools/server/server-{name}.cpp" for name in ("context", "task", "queue", "common", "schema", "stream")),
    *(f"common/{name}.cpp" for name in ("common", "sampling", "speculative", "json", "log")),
    "src/llama-sampler.cpp",
    "src/llama-impl.cpp",
)
SERVER = beside(__file__, "_llama_cpp_server.py")


def run(commands: Sequence[Sequence[str]]) -> None:
    """Runs commands of a compiler. Raises: Missing if there is no compiler or a command fails."""
    for command in commands:
        try:
            said = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            raise Missing(f"no C++ compiler: {error}") from None
        if said.returncode != 0:
            raise Missing(f"does not compile: {said.stderr.strip().splitlines()[0]}")


def compiler(root: Path, *folders: str) -> list[str]:
    """Returns the start of a compiler's command, with the folders of headers."""
    return [os.environ.get("CXX", "c++"), *FLAGS, *(f"-I{root / folder}" for folder in (*INCLUDE, *folders))]


def server() -> Path:
    """Returns the program of llama_cpp_server.cpp: the files of OF_SERVER in a shared library, whose functions are
    replaced by those of the same name in llama_cpp_server.cpp. Raises: Missing if a file does not compile."""
    root, tables = ENGINE.root() / "vendor" / "llama.cpp", HERE / "llama_cpp_server.cpp"
    built, library = ENGINE.folder / "server_on_tables", ENGINE.folder / "libserver.so"
    start = compiler(root, "tools/server", "tools/mtmd")
    if not library.is_file():
        compiled = {root / file: str(ENGINE.folder / f"of_server_{Path(file).stem}.o") for file in OF_SERVER}
        run([[*start, *SHARED[:2], "-c", str(file), "-o", part] for file, part in compiled.items()])
        run([[start[0], "-shared", "-Wl,-soname,libserver.so", *compiled.values(), "-o", str(library)]])
    if not built.is_file() or built.stat().st_mtime <= tables.stat().st_mtime:
        run([[*start, *LINKED, f"-Wl,-rpath,{ENGINE.folder}", str(tables), str(library), "-pthread", "-o", str(built)]])
    return built


def served(name: str, **given: Any) -> Any:
    """Returns a subject of _llama_cpp_server.py on the compiled server."""
    built = server()

    def serve(document: dict[str, Any]) -> Any:
        said = subprocess.run([str(built)], input=json.dumps(document), capture_output=True, text=True, timeout=300)
        if said.returncode != 0:
            raise RuntimeError(f"exit code {said.returncode}: {said.stderr[-200:]}")
        return json.loads(said.stdout)

    return SERVER.subject(serve, f"llama_cpp_{name}", **given)


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
    start = compiler(root)
    part, shared = ENGINE.folder / f"{example}.o", [ENGINE.folder / f"lib{name}.so" for name in libraries]
    run(
        [
            *(
                [*start, *SHARED, str(root / "common" / f"{name}.cpp"), "-o", str(library)]
                for name, library in zip(libraries, shared, strict=True)
            ),
            [*start, "-Dmain=llama_speculative_main", "-c", str(source), "-o", str(part)],
            [
                *start,
                *LINKED,
                f"-Wl,-rpath,{ENGINE.folder}",
                str(tables),
                str(part),
                *map(str, shared),
                "-o",
                str(built),
            ],
        ]
    )
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
    replaces="libllama and libcommon, by two tables of next-token distributions; for the server libllama "
    "without its samplers, the chat templates and libmtmd",
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
        EngineAdapter(
            "server",
            lambda: served("server"),
            tiers=("sampled",),
            note="requests in three slots with their own settings, some greedy. The temperature is put before the "
            "truncations; the server has no least length, and its presence penalty also holds for the prompt",
        ),
        EngineAdapter(
            "server_equal_seeds",
            lambda: served("server_equal_seeds", equal_seeds=True),
            tiers=("sampled",),
            note="each text must be the one that the same seed gives without drafts",
        ),
        EngineAdapter(
            "server_checkpoints",
            lambda: served("server_checkpoints", recurrent=True),
            tiers=("sampled",),
            note="the same on models that keep only their last state",
        ),
        EngineAdapter(
            "server_checkpoints_uncached",
            lambda: served("server_checkpoints_uncached", recurrent=True, equal_seeds=True, cache_prompt=False),
            tiers=("sampled",),
            note="the same where no prompt is taken from the cache, with equal seeds",
        ),
    ),
)
