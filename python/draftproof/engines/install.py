"""Installs each engine into a separate folder: packages by pip, repositories without a package by git."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import metadata

from draftproof.engines.engine import Engine, Missing


def install(engine: Engine) -> None:
    """Installs the packages or sources of an engine into its folder. Raises: Missing if pip or git fails."""
    if engine.sources:
        try:
            engine.root()
        except Missing:
            _fetch(engine)
        return
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    target = engine.folder
    if engine.sdist:
        target.mkdir(parents=True, exist_ok=True)
        name = engine.sdist.partition("==")[0]  # --no-binary for this name only: build requirements may be wheels
        _pip([*pip, "download", "--no-deps", "--no-binary", name, "-d", str(target), engine.sdist], engine)
        for archive in target.glob("*.tar.gz"):
            subprocess.run(["tar", "-xzf", str(archive), "-C", str(target)], check=True)
        return
    _remove_other_version(engine)
    wanted = [*engine.packages, *engine.needs]
    _pip([*pip, "install", "--no-deps", "--upgrade", "--target", str(target), *wanted], engine)


def _remove_other_version(engine: Engine) -> None:
    """Removes the folder of an engine whose first package is there in another version than the pinned one, because pip
    leaves the old version's metadata in a target folder."""
    name, _, wanted = engine.packages[0].partition("==")
    found = {one.version for one in metadata.distributions(name=name, path=[str(engine.folder)])}
    if wanted and found - {wanted}:
        shutil.rmtree(engine.folder)


def _fetch(engine: Engine) -> None:
    """Fetches `parts` of the pinned commit of a repository into the engine's folder."""
    part = engine.folder.with_name(engine.folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    steps = (
        ["init", "-q"],
        ["remote", "add", "origin", f"https://github.com/{engine.sources}"],
        ["sparse-checkout", "set", "--no-cone", *(f"/{one}" for one in engine.parts)],
        ["fetch", "-q", "--depth=1", "--filter=blob:none", "origin", engine.commit],
        ["checkout", "-q", "--detach", "FETCH_HEAD"],
    )
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1"}
    try:
        for step in steps:
            said = subprocess.run(["git", "-C", str(part), *step], env=environment, capture_output=True, text=True)
            if said.returncode != 0:
                last = (said.stderr.strip().splitlines() or ["no reason given"])[-1]
                raise Missing(f"git could not fetch {engine.sources} at {engine.commit[:7]}: {last}")
        os.replace(part, engine.folder)
    except OSError as error:
        raise Missing(f"{engine.sources} was not fetched: {error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _pip(command: list[str], engine: Engine) -> None:
    if subprocess.run(command).returncode != 0:
        raise Missing(f"pip could not install {engine.name}")
