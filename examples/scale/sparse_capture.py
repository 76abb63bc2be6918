#!/usr/bin/env python3
"""Writes a capture of any size that takes no disk space: all logits are zero, in a sparse .safetensors file.

    python3 examples/scale/sparse_capture.py big.safetensors 200000 32768
"""

import json
import sys


def main(path: str, positions: int, vocabulary: int) -> None:
    size = 4 * positions * vocabulary
    header = {"__metadata__": {"values": "logit"}}
    for i, name in enumerate(("target", "draft")):
        header[name] = {"dtype": "F32", "shape": [positions, vocabulary], "data_offsets": [i * size, (i + 1) * size]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + 2 * size)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
