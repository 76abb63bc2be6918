"""Adds to a wheel the licences of the libraries that auditwheel copied and of headers compiled into the program.

    add_licences.py WHEEL [--doc FOLDER]     FOLDER has the texts, by Debian package (/usr/share/doc)

The texts are Debian's files `copyright`, with the licences of /usr/share/common-licenses that they refer to.
`licenses/BUNDLED.txt` of the wheel names the package, version and text of each library. Exit code 1 if a library has no
text; the wheel is then unchanged. `without_licence` lists the bundled libraries of a wheel that lack one.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

#: Packages of headers that are compiled into the program. The licence of Boost requires no notice in object code.
HEADERS = ("libcli11-dev", "nlohmann-json3-dev")
COMMON = Path("/usr/share/common-licenses")
TABLE = "BUNDLED.txt"


def bundled(wheel: zipfile.ZipFile) -> list[str]:
    """Returns the shared libraries in a wheel."""
    return sorted(name for name in wheel.namelist() if re.search(r"\.so(\.[\d.]+)?$", name))


def package_of(library: str) -> str:
    """Returns the Debian package of a library. auditwheel puts a hash before the suffix: libfmt-4f700944.so.9.1.0."""
    name = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", library.rsplit("/", 1)[-1])
    found = subprocess.run(["dpkg-query", "-S", f"*/{name}"], capture_output=True, text=True, check=False).stdout
    packages = {line.partition(":")[0] for line in found.splitlines() if line.endswith(f"/{name}")}
    return min(packages, default="")


def version_of(package: str) -> str:
    asked = ["dpkg-query", "-W", "-f", "${Version}\n", package]
    return (subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split() or ["unknown"])[0]


def licences(libraries: list[str], doc: Path) -> tuple[dict[str, str], list[str]]:
    """Returns the licence texts by file name below licenses/, and the libraries and packages without a text."""
    texts: dict[str, str] = {}
    rows, lacking = [], []
    for what, package in [*((name, package_of(name)) for name in libraries), *(("headers", one) for one in HEADERS)]:
        source = doc / package / "copyright"
        if not package or not source.is_file():
            lacking.append(what if what != "headers" else package)
            continue
        texts[f"{package}/copyright"] = source.read_text(errors="replace")
        rows.append(f"{what}: {package} {version_of(package)}, {package}/copyright")
    for name in sorted({name for text in texts.values() for name in re.findall(rf"{COMMON}/([\w.-]*\w)", text)}):
        if (COMMON / name).is_file():
            texts[f"common-licenses/{name}"] = (COMMON / name).read_text(errors="replace")
    texts[TABLE] = "\n".join(rows) + "\n"
    return texts, lacking


def add(path: Path, texts: dict[str, str]) -> None:
    """Writes the wheel again with these texts below licenses/, named in METADATA and RECORD."""
    with zipfile.ZipFile(path) as old:
        (record,) = (name for name in old.namelist() if name.endswith(".dist-info/RECORD"))
        about = record.removesuffix("RECORD")
        stamp = old.getinfo(record).date_time
        contents = {entry: old.read(entry) for entry in old.infolist() if entry.filename != record}
    listed: list[tuple[str, str, str | int]] = [(record, "", "")]
    with zipfile.ZipFile(path.with_suffix(".new"), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:

        def put(entry: zipfile.ZipInfo, data: bytes) -> None:
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, data)
            if not entry.is_dir():
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                listed.append((entry.filename, f"sha256={digest}", len(data)))

        for entry, data in contents.items():
            if entry.filename == f"{about}METADATA":
                head, blank, body = data.decode().partition("\n\n")
                data = ("\n".join([head, *(f"License-File: {name}" for name in texts)]) + blank + body).encode()
            put(entry, data)
        for name, text in texts.items():
            entry = zipfile.ZipInfo(f"{about}licenses/{name}", stamp)
            entry.external_attr = 0o644 << 16
            put(entry, text.encode())
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(listed)
        new.writestr(zipfile.ZipInfo(record, stamp), out.getvalue(), zipfile.ZIP_DEFLATED)
    os.replace(path.with_suffix(".new"), path)


def without_licence(path: Path) -> list[str]:
    """Returns the bundled libraries and headers of a wheel whose licence is not in the wheel."""
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        (about,) = (name.removesuffix("RECORD") for name in names if name.endswith(".dist-info/RECORD"))
        table = f"{about}licenses/{TABLE}"
        rows = wheel.read(table).decode().splitlines() if table in names else []
        texts = {}
        for row in rows:  # format "LIBRARY: PACKAGE VERSION, TEXT" or "headers: PACKAGE VERSION, TEXT"; TEXT is a file
            what, package, _, text = row.split()
            texts[package if what == "headers:" else what.rstrip(":")] = f"{about}licenses/{text}"
        return [what for what in [*bundled(wheel), *HEADERS] if texts.get(what) not in names]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--doc", type=Path, default=Path("/usr/share/doc"))
    asked = parser.parse_args()
    with zipfile.ZipFile(asked.wheel) as wheel:
        libraries = bundled(wheel)
    texts, lacking = licences(libraries, asked.doc)
    for what in lacking:
        print(f"{asked.wheel.name}: {what}: got no licence, expected {asked.doc}/PACKAGE/copyright", file=sys.stderr)
    if lacking:
        return 1
    add(asked.wheel, texts)
    print(f"{asked.wheel.name}: {len(texts) - 1} texts for {len(libraries)} libraries, {len(HEADERS)} header packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
