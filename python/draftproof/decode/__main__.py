"""`python -m draftproof.decode`: the same as `python -m draftproof decode`."""

from __future__ import annotations

import sys

from . import main

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
