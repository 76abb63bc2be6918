"""runs the gate on released engines, and writes docs/engines.md and docs/census.md from its results.

    python -m draftproof engines                     all that are installed
    python -m draftproof engines vllm lmdeploy       these; NAME:ADAPTER for one adapter
    python -m draftproof engines --list              versions, adapters, and why an engine is skipped
    python -m draftproof engines --install lmdeploy  into DRAFTPROOF_ENGINE_PACKAGES, build/engines if not set
    python -m draftproof engines deepspec --repeat 100   as many gates with other seeds: how many passed
    python -m draftproof engines --write-docs        docs/engines.md, docs/census.md from python/engines/results, and
                                                     docs/findings/README.md from the pages beside it

Exit codes: 0 all adapters passed, 1 an adapter failed, 2 bad input, 3 undecided, 4 an engine died, 77 none could
run.
"""

from __future__ import annotations

from draftproof.engines.command import main
from draftproof.engines.engine import (
    CHAINS,
    EQUAL,
    IMPOSSIBLE,
    OF_TWO,
    SHORT_SUM,
    TWO_DRAFTS,
    WITH_ZERO,
    Engine,
    EngineAdapter,
    Missing,
    beside,
    discover,
    functions_of,
    judged,
    load,
    module_of,
    on_one,
    paths_of,
    repository,
)
from draftproof.engines.install import install

__all__ = [
    "CHAINS",
    "EQUAL",
    "IMPOSSIBLE",
    "OF_TWO",
    "SHORT_SUM",
    "TWO_DRAFTS",
    "WITH_ZERO",
    "Engine",
    "EngineAdapter",
    "Missing",
    "beside",
    "discover",
    "functions_of",
    "install",
    "judged",
    "load",
    "main",
    "module_of",
    "on_one",
    "paths_of",
    "repository",
]
