"""Kernels compiled ahead for some targets, processors and GPUs, in a folder that a process without LLVM runs from.

``manifest.json`` says who made it, for which targets, and of each kernel its name, module, fingerprint, digest,
parameters, record, and for each target the file of its object with its SHA-256. A bundle is not mended: whatever is
wrong with it is an error that names the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any

import sim_node
from sim_node.compiler import identity
from sim_node.compiler.backend import elf, isa, llvm
from sim_node.compiler.backend.target import Target, best
from sim_node.compiler.record import Record, RecordError, record
from sim_node.errors import mistakes

MANIFEST = "manifest.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Member:
    """One kernel of a bundle, to be written: ``fingerprint`` is None where it has none; images are by target."""

    name: str
    module: str
    fingerprint: str | None
    params: dict[str, str]
    layouts: dict[str, str]
    kept: dict[str, Any]
    images: dict[Target, bytes]


def write(folder: Path, targets: Sequence[Target], members: Iterable[Member]) -> Path:
    """Write a bundle, whole or not at all, in place of one that is there; returns the path of its manifest.

    Raises BundleError where the folder holds something else, or cannot be written.
    """
    if folder.exists() and not (folder / MANIFEST).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise mistakes.BUNDLE(f"{folder}: is there and is no bundle; give another folder, or remove it")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
        try:
            draft.chmod(0o755)
            kernels = [_written(draft, member) for member in members]
            (draft / MANIFEST).write_text(json.dumps(_manifest(targets, kernels), indent=1) + "\n", "utf-8")
            if folder.exists():
                shutil.rmtree(folder)
            os.replace(draft, folder)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    except OSError as fault:
        raise mistakes.BUNDLE(f"{folder}: cannot be written ({fault.strerror})") from fault
    return folder / MANIFEST


def _manifest(targets: Sequence[Target], kernels: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "sim_node": sim_node.__version__,
        "python": platform.python_version(),
        "llvmlite": llvm.version(),
        "compiler": identity.compiler(),
        "backend": identity.backend(),
        "targets": {target.name: target.identity for target in targets},
        "kernels": kernels,
    }


def _written(folder: Path, member: Member) -> dict[str, Any]:
    objects = {}
    for target, image in member.images.items():
        name = re.sub(r"[^A-Za-z0-9_]", "_", member.name)[:64]
        file = f"{target.name}/{name}-{member.kept['digest'][:16]}{target.suffix}"
        (folder / target.name).mkdir(exist_ok=True)
        (folder / file).write_bytes(image)
        objects[target.name] = {"file": file, "sha256": hashlib.sha256(image).hexdigest()}
    return {
        "name": member.name,
        "module": member.module,
        "fingerprint": member.fingerprint,
        "params": member.params,
        "layouts": member.layouts,
        **member.kept,
        "objects": objects,
    }


@dataclass
class Bundle:
    """A bundle that was read. Attributes: ``path`` (its folder), ``target`` (whose objects this process runs; None: it
    is for GPUs alone), ``gpus`` (that it has PTX for), ``llvmlite`` (what made it), ``loaded`` (how many objects were).
    """

    path: Path
    target: Target | None
    gpus: tuple[str, ...]
    llvmlite: str
    loaded: int = 0
    _same_compiler: bool = False
    _by_digest: dict[str, dict[str, Any]] = field(default_factory=dict)
    _by_fingerprint: dict[str, dict[str, Any]] = field(default_factory=dict)
    _digests: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # by module and name
    _codes: dict[str, elf.Code] = field(default_factory=dict)

    def known(self, fingerprint: str, functions: Sequence[FunctionType]) -> Record | None:
        """Look up the record of a kernel by its fingerprint; None where it is not there, or lowering has to say."""
        found = self._by_fingerprint.get(fingerprint) if self._same_compiler else None
        try:
            return None if found is None else record(found, functions)
        except RecordError as fault:
            raise mistakes.BUNDLE(f"{self.path / MANIFEST}: kernel '{found and found['name']}': {fault}") from fault

    def code(self, digest: str) -> elf.Code | None:
        """Load the object of a digest; None where the bundle has no such kernel.

        Raises BundleError where the object is missing, or is not what was written.
        """
        found = self._by_digest.get(digest)
        if found is None or self.target is None:
            return None
        if digest not in self._codes:
            self._codes[digest] = self._load(found["objects"][self.target.name])
            self.loaded += 1
        return self._codes[digest]

    def assembly(self, digest: str, gpu: Target) -> tuple[Path, bytes] | None:
        """Read the PTX of a digest, of the newest GPU that is no newer than this one, and tell where it is.

        None where the bundle has no such kernel, or is for newer GPUs; raises BundleError as ``code``.
        """
        found, name = self._by_digest.get(digest), isa.newest(int(gpu.name[3:]), self.gpus)
        if found is None or name is None:
            return None
        where = found["objects"][name]
        return self.path / where["file"], self._read(where)

    def serves(self, target: Target) -> bool:
        """Whether it has code for a GPU, or for the processor that this process runs on."""
        return isa.newest(int(target.name[3:]), self.gpus) is not None if target.is_gpu else self.target is not None

    def has_another(self, module: str, name: str, digest: str) -> bool:
        """Whether the bundle holds a kernel of this name, but not this one."""
        return digest not in self._digests.get((module, name), [digest])

    def _read(self, where: dict[str, str]) -> bytes:
        path = self.path / where["file"]
        try:
            image = path.read_bytes()
        except OSError as fault:
            raise mistakes.BUNDLE(f"{path}: cannot be read ({fault.strerror}); build the bundle again") from fault
        if hashlib.sha256(image).hexdigest() != where["sha256"]:
            raise mistakes.BUNDLE(f"{path}: is not what the manifest says; build the bundle again")
        return image

    def _load(self, where: dict[str, str]) -> elf.Code:
        image = self._read(where)
        try:
            return elf.load(image)
        except elf.ObjectError as fault:
            raise mistakes.BUNDLE(f"{self.path / where['file']}: {fault}") from fault


def read(path: Path) -> Bundle:
    """Read a bundle's manifest.

    Raises BundleError where it cannot be used: unreadable, malformed, of another version, for other processors.
    """
    file = path / MANIFEST
    try:
        manifest = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as fault:
        raise mistakes.BUNDLE(f"{file}: no manifest of a bundle: {fault}") from fault
    try:
        return _read(path, manifest)
    except (KeyError, TypeError, AttributeError) as fault:
        raise mistakes.BUNDLE(f"{file}: is damaged: {type(fault).__name__}: {fault}") from fault


def _read(path: Path, manifest: dict[str, Any]) -> Bundle:
    file, again = path / MANIFEST, "build it again with the sim_node that runs it"
    if manifest["format"] != FORMAT:
        raise mistakes.BUNDLE(f"{file}: has format {manifest['format']!r}, and this version reads {FORMAT}; {again}")
    if manifest["backend"] != identity.backend():
        made, ours = manifest["sim_node"], sim_node.__version__
        raise mistakes.BUNDLE(f"{file}: was made by another compiler (sim_node {made}, this is {ours}); {again}")
    targets: dict[str, str] = manifest["targets"]
    target = best(targets.values())
    gpus = tuple(name for name in isa.GPUS if targets.get(name) == isa.gpu(name).identity)
    if target is None and not gpus:
        raise mistakes.BUNDLE(
            f"{file}: has no target that this processor or a GPU runs: {', '.join(targets) or 'none at all'}"
        )
    bundle = Bundle(path, target, gpus, str(manifest["llvmlite"]))
    bundle._same_compiler = manifest["compiler"] == identity.compiler()
    for kernel in manifest["kernels"]:
        for name in (*([target.name] if target else []), *gpus):
            where = kernel["objects"][name]
            if not isinstance(where["sha256"], str) or not re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", where["file"]):
                raise mistakes.BUNDLE(f"{file}: is damaged: kernel '{kernel['name']}' has no object of its own")
        bundle._by_digest[kernel["digest"]] = kernel
        bundle._digests.setdefault((kernel["module"], kernel["name"]), []).append(kernel["digest"])
        if kernel["fingerprint"] is not None:
            bundle._by_fingerprint[kernel["fingerprint"]] = kernel
    return bundle


_used: dict[Path, Bundle] = {}


def use(path: str | Path) -> Bundle:
    """Let every build of this process look into a bundle first; raises BundleError as ``read``."""
    found = Path(path).expanduser().resolve()
    if found not in _used:
        _used[found] = read(found)
    return _used[found]


def used() -> list[Bundle]:
    """The bundles that this process uses: those given to ``use``, after the one that ``$SIM_NODE_BUNDLE`` names."""
    if own := os.environ.get("SIM_NODE_BUNDLE"):
        use(own)
    return list(_used.values())
