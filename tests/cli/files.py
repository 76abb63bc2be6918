"""Writes the captures that the cases read: one is valid, each of the others has one error. The row and the token of an
error are chosen so that a message cannot name them by coincidence.

    files.py FOLDER
"""
import io
import math
import pathlib
import struct
import sys
import zipfile

POSITIONS, VOCABULARY = 5, 4


def npy(shape, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}f", *values)


def npz(**arrays):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(name + ".npy", array)
    return file.getvalue()


def capture(target, draft):
    return npz(**{name: npy((POSITIONS, VOCABULARY), rows) for name, rows in (("target", target), ("draft", draft))})


def rows(at=None, value=0.0):
    """Returns log-probabilities of rows (1 2 3 4) / 10, with another number at one entry."""
    tenths = struct.unpack("<4f", struct.pack("<4f", 0.1, 0.2, 0.3, 0.4))
    values = [math.log(tenths[x]) for _ in range(POSITIONS) for x in range(VOCABULARY)]
    if at is not None:
        values[at] = value
    return values


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    good = capture(rows(), rows())
    negative = [math.exp(value) for value in rows()]
    negative[2 * VOCABULARY + 3] = -0.4
    # The header of `lying` has a shape with more entries than the file has; the shape of `huge` has 2^62 entries.
    lying, huge = (npz(target=npy(shape, [0] * 4), draft=npy((1, 4), [0] * 4))
                   for shape in ((3, 4), (1 << 31, 1 << 31)))
    for name, data in {"good.npz": good,
                       "nan.npz": capture(rows(), rows(3 * VOCABULARY + 2, math.nan)),
                       "sum.npz": capture(rows(4 * VOCABULARY + 1, math.log(0.5)), rows()),
                       "negative.npz": capture(negative, [0.25] * (POSITIONS * VOCABULARY)),
                       "negative.json": b'{"values": "probability"}',
                       "truncated.npz": good[:len(good) // 2],
                       "empty.npz": b"",
                       "text.npz": b"target,draft\n0.5,0.5\n",
                       "lying.npz": lying,
                       "huge.npz": huge}.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main(sys.argv[1])
