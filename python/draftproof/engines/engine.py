"""Engines that others released, imported or compiled unchanged, and their verifiers behind adapters.

Each file of the folder `engines` that binds `ENGINE` is an engine. It declares the packages to install, the parts that
it replaces, and its adapters. results.py runs the gate on them.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from draftproof.subject import Subject


class Missing(Exception):
    """An engine cannot run here; the message is the reason."""


@dataclass(frozen=True)
class EngineAdapter:
    """One function of an engine as a program under test.

    make         returns the subject, and imports the engine's modules. Raises: Missing, ImportError
    models       number of models of the proof tier, fewer for slow engines
    predictions  number of predictions for each input, fewer for slow engines
    tiers        the tiers that run
    instances    models, in the form of counterexamples, whose replays are stored
    shrinks      whether the proof tier also runs on `instances`, and shrinks a failing one, which takes hundreds of
                 distributions
    note         a remark for the page
    change       for a wrong function, the change that makes it right, in a line of docs/census.md
    """

    name: str
    make: Callable[[], Subject]
    models: int = 40
    predictions: int = 256
    tiers: tuple[str, ...] = ("proof", "edge")
    instances: tuple[str, ...] = ()
    shrinks: bool = True
    note: str = ""
    change: str = ""


# Two chains of one draft: OF_TWO has p > 0 everywhere, WITH_ZERO a token with p = 0 in its first row.
OF_TWO = "L=1 K=1 [] p=(2 6)/8 q=(5 3)/8 [0] p=(1 2)/3 q=(1 0)/1 [1] p=(3 1)/4 q=(1 0)/1"
WITH_ZERO = "L=1 K=1 [] p=(1 0)/1 q=(1 1)/2 [0] p=(3 1)/4 q=(1 0)/1 [1] p=(1 1)/2 q=(1 0)/1"
# A chain of two drafts and two tokens, on which block verification differs from verification by token.
TWO_DRAFTS = "L=2 K=1 [] p=(1 2)/3 q=(2 1)/3 [0] p=(1 1)/2 q=(1 2)/3 [1] p=(3 1)/4 q=(1 2)/3"
# p = q, and token 0 is impossible: the residual after a rejected draft is empty. The softmax of log p is one step of
# float32 below q at token 1.
EQUAL = "L=1 K=1 [] p=(0 1 2)/3 q=(0 1 2)/3"
# The draft has p = 0.
IMPOSSIBLE = "L=1 K=1 [] p=(1 0)/1 q=(0 1)/1"
# After softmax in float32, token 0 has the same probability in both rows, and token 1 is a few steps larger in q.
NEARLY_EQUAL = "L=1 K=1 [] p=(2915 1)/2916 q=(5829 2)/5831"
# The rounded running sum of p ends below a sum of p in another order, so a draw that is scaled by the larger sum may
# return the last token, although p = 0.
SHORT_SUM = "L=1 K=1 [] p=(5 6 1 1 5 6 2 3 0)/29 q=(0 0 0 0 0 0 0 0 1)/1"
# A chain of two drafts whose rows have tokens with p > q and tokens with p < q.
OF_LENGTH_TWO = (
    "L=2 K=1 [] p=(2 5 1 0)/8 q=(3 1 4 0)/8 [0] p=(1 2 1 4)/8 q=(1 3 1 3)/8 [1] p=(0 4 3 1)/8 q=(1 1 1 1)/4 "
    "[2] p=(1 0 0 0)/1 q=(1 1 0 0)/2"
)
CHAINS = (EQUAL, IMPOSSIBLE, SHORT_SUM, OF_TWO, WITH_ZERO, OF_LENGTH_TWO)


def on_one(name: str, make: Callable[[], Subject], instance: str, note: str = "") -> EngineAdapter:
    """Returns an adapter that is checked on one model, which is shrunk if a check fails. It is meant for functions that
    take batches and for slow functions."""
    return EngineAdapter(name, make, models=0, predictions=16, tiers=("proof",), instances=(instance,), note=note)


def judged(name: str, make: Callable[[], Subject], **given: Any) -> EngineAdapter:
    """Returns an adapter for both exact tiers on few models, for packages of docs/census.md."""
    few: dict[str, Any] = {"models": 3, "predictions": 16, "instances": (NEARLY_EQUAL, IMPOSSIBLE)}
    return EngineAdapter(name, make, **{**few, **given})


@dataclass(frozen=True)
class Engine:
    """A released engine.

    packages      pip requirements, installed without their dependencies into the engine's folder
    needs         pip requirements of its imports, also installed without dependencies; torch and numpy are those of the
                  interpreter
    sdist         a pip requirement whose source archive is unpacked instead
    sources       `owner/name` of a repository that has no package; DRAFTPROOF_ENGINE_SOURCES is searched for its folder
    commit        full hash of the commit that is fetched if the search finds no folder
    parts         patterns of the folders and files that are checked out from the commit
    environment   variables set before anything is imported
    replaces      the parts of the engine that are replaced, in words; `nothing` if it runs as released
    """

    adapters: tuple[EngineAdapter, ...]
    packages: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    sdist: str = ""
    sources: str = ""
    commit: str = ""
    parts: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    replaces: str = "nothing"
    name: str = ""

    @property
    def folder(self) -> Path:
        return packages_folder() / self.name

    def root(self) -> Path:
        """Returns the folder of the engine's sources. Raises: Missing if there is none."""
        if self.sources:
            places = [
                Path(base) / name
                for base in _paths("DRAFTPROOF_ENGINE_SOURCES")
                for name in (self.sources.replace("/", "+"), self.sources.partition("/")[2])
            ]
            for place in places:
                if place.is_dir():
                    return place
            if (self.folder / ".git").is_dir():
                return self.folder
            told = f"`draftproof engines {self.name} --install` fetches them, or set DRAFTPROOF_ENGINE_SOURCES"
            raise Missing(f"no sources of {self.sources}: {told} to a folder that has them")
        if not self.folder.is_dir():
            raise Missing(f"not installed; `draftproof engines {self.name} --install` does it")
        if self.sdist:
            found = sorted(place for place in self.folder.iterdir() if place.is_dir())
            if not found:
                raise Missing(f"no unpacked {self.sdist} in its folder")
            return found[-1]
        return self.folder

    def version(self) -> str:
        """Returns the version of the package, or the commit of the repository. Raises: Missing."""
        if self.sources:
            return _commit(self.root())
        requirement = self.sdist or self.packages[0]
        name = requirement.partition("==")[0]
        if self.sdist:
            return self.root().name.rpartition("-")[2]
        found = list(metadata.distributions(name=name, path=[str(self.folder), *sys.path]))
        if not found:
            raise Missing(f"{name} is not installed; `draftproof engines {self.name} --install` does it")
        return found[0].version

    def enter(self) -> None:
        """Makes the engine importable in this process. Packages of the interpreter come before the engine's folder in
        sys.path, unless the interpreter has another version of the engine itself."""
        os.environ.update(self.environment)
        if self.packages and self.folder.is_dir():
            name, folder = self.packages[0].partition("==")[0], str(self.folder)
            installed = {one.version for one in metadata.distributions(name=name, path=[folder])}
            found = {one.version for one in metadata.distributions(name=name, path=sys.path)}
            sys.path.insert(0 if installed and found - installed else len(sys.path), folder)


def _paths(variable: str) -> list[str]:
    return [path for path in os.environ.get(variable, "").split(os.pathsep) if path]


def repository() -> Path:
    """Returns the checkout, which has `python/engines`: the working folder, a folder above it, or this package's.

    Raises: Missing.
    """
    try:
        here = [Path.cwd(), *Path.cwd().parents]
    except FileNotFoundError:  # the working folder was removed
        here = []
    for base in (*here, Path(__file__).resolve().parents[3]):
        if (base / "python" / "engines" / "results").is_dir():
            return base
    raise Missing("no folder `python/engines` here: run it in a checkout of draftproof")


def packages_folder() -> Path:
    """Returns the folder that DRAFTPROOF_ENGINE_PACKAGES names, or build/engines of the checkout."""
    given = os.environ.get("DRAFTPROOF_ENGINE_PACKAGES")
    return Path(given) if given else repository() / "build" / "engines"


def _commit(root: Path) -> str:
    """Returns the short hash of the commit, or a digest of the Python files if the folder has no .git."""
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "rev-parse", "--short=7", "HEAD"]
        said = subprocess.run(command, capture_output=True, text=True)
        if said.returncode == 0:
            return said.stdout.strip()
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return "sha" + digest.hexdigest()[:7]


def discover(folder: Path | None = None) -> dict[str, Engine]:
    """Returns the engines of the folder and of its folder `packages` by name, which is the name of the file."""
    folder = folder or repository() / "python" / "engines"
    found = {}
    for path in sorted([*folder.glob("*.py"), *folder.glob("packages/*.py")], key=lambda path: path.stem):
        if not path.name.startswith("_") and (engine := load(path)) is not None:
            found[engine.name] = engine
    return found


def load(path: Path) -> Engine | None:
    """Returns the engine of a file, None if the file binds no ENGINE."""
    spec = importlib.util.spec_from_file_location(f"draftproof_engine_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    engine = getattr(module, "ENGINE", None)
    if not isinstance(engine, Engine):
        return None
    named = Engine(**{**vars(engine), "name": path.stem.replace("_", "-")})
    module.ENGINE = named  # type: ignore[attr-defined]
    return named


def functions_of(path: Path, names: Sequence[str], scope: dict[str, Any]) -> list[Any]:
    """Compiles functions of an engine's file unchanged in `scope`, without the file's imports, which may need a device.

    A name is a function, a class, a constant, or `Class.method`, which makes a class of this method without bases.
    Raises: Missing for a name that the file does not have.
    """
    tree = ast.parse(path.read_bytes(), filename=str(path))
    wanted = {name.partition(".")[0]: name.partition(".")[2] for name in names}
    body: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and (method := wanted.get(node.name)):
            node.bases = []
            node.body = [part for part in node.body if isinstance(part, _FUNCTIONS) and part.name == method]
            body.append(node)
        elif _bound(node) & wanted.keys():
            body.append(node)
    tree.body = body
    exec(compile(tree, str(path), "exec"), scope)
    found = []
    for name in names:
        first, _, method = name.partition(".")
        thing = scope.get(first)
        thing = getattr(thing, method, None) if method else thing
        if thing is None:
            raise Missing(f"{path.name} has no {name}")
        found.append(thing)
    return found


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _bound(node: ast.stmt) -> set[str]:
    """Returns the names that a statement binds by a definition or an assignment."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def module_of(path: Path, name: str) -> Any:
    """Imports a file of the engine as a module, without its package. Raises: Missing if there is no such file."""
    if not path.is_file():
        raise Missing(f"the engine has no file {path.name}")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def beside(file: str, name: str) -> Any:
    """Imports the file `name` in the folder of the adapter `file` as a module. Raises: Missing if there is no such
    file."""
    return module_of(Path(file).with_name(name), "draftproof" + name.partition(".")[0])


def paths_of(parents: Sequence[int]) -> list[list[int]]:
    """Returns the nodes of a tree from the root to each leaf, without the root, whose number is -1."""
    paths = []
    for leaf in range(len(parents)):
        if leaf not in parents:
            path = [leaf]
            while parents[path[0]] >= 0:
                path.insert(0, parents[path[0]])
            paths.append(path)
    return paths
