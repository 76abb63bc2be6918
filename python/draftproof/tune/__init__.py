"""tokens per second of every lossless verifier, draft sampling, K and L, from captured rows and a table of costs

docs/tune.md describes the command and the table.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .costs import CostError, Costs, OutOfTable, Seconds, derived_costs, read_costs
from .policies import with_policies
from .ranking import Choice, Tuned, ranked
from .settings import Setting, Survey, survey

__all__ = [
    "Choice",
    "CostError",
    "Costs",
    "OutOfTable",
    "Seconds",
    "Setting",
    "Survey",
    "Tuned",
    "derived_costs",
    "main",
    "ranked",
    "read_costs",
    "survey",
    "with_policies",
]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line `argv` without the verb, sys.argv[1:] if None. Returns: the exit code."""
    from .command import run_command

    return run_command(sys.argv[1:] if argv is None else argv)
