"""A bundle runs without LLVM, and one that is malformed, stale, tampered with or cut short is refused and named."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from devices import GPU

import sim_node
from sim_node.compiler import bundle
from sim_node.compiler.backend import isa
from sim_node.compiler.backend.target import HOST, TARGETS
from sim_node.errors import BundleError

_KERNELS = """
import sim_node as sn

GAIN = 2.0

@sn.func
def scaled(a: float):
    return a * GAIN

@sn.kernel
def scale(x: sn.array(dtype=float), n: sn.int32):
    i = sn.tid()
    assert n < 3
    x[i + n] = scaled(x[i + n]) + sn.sin(0.0)
"""
_RUN = """
import sys

device = sys.argv[1]

class Hidden:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "llvmlite":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
import numpy as np
import sim_node as sn
import plantlike
x = sn.array(np.arange(4, dtype=np.float32), device=device)
try:
    sn.launch(plantlike.scale, dim=4, inputs=[x, 0], device=device)
    sn.synchronize()
except sn.errors.SimNodeError as error:
    sys.exit(f"{type(error).__name__}: {error}")
assert "llvmlite" not in sys.modules
print(x.numpy().tolist())
for n in (2, 3) if "--past" in sys.argv else ():
    try:
        sn.launch(plantlike.scale, dim=4, inputs=[x, n], device=device)
        sn.synchronize()
    except sn.errors.SimNodeError as error:
        print(error)
"""
_TARGETS = [HOST, *(one for one in TARGETS.values() if one.runs and one is not HOST)]
_GPUS = ["sm_75", "sm_80", "sm_90", "sm_121"]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bundle of one kernel, for this processor and the generic ones that it runs."""
    tmp_path = tmp_path_factory.mktemp("bundle")
    (tmp_path / "plantlike.py").write_text(_KERNELS)
    (tmp_path / "run.py").write_text(_RUN)
    (tmp_path / "build.py").write_text(
        textwrap.dedent(
            f"""
            import pathlib
            from sim_node.compiler import bundle
            from sim_node.compiler.backend.isa import named
            from sim_node.compiler.build import member
            import plantlike
            targets = [named(name) for name in {[*(one.name for one in _TARGETS), *_GPUS]!r}]
            bundle.write(pathlib.Path("made"), targets, [member(plantlike.scale, {{}}, targets)])
            """
        )
    )
    done = _python(tmp_path, "build.py")
    assert done.returncode == 0, done.stderr
    return tmp_path


@pytest.fixture
def made(once: Path, tmp_path: Path) -> Path:
    """A copy of the bundle, to be damaged."""
    return Path(shutil.copytree(once, tmp_path / "copy")) / "made"


def _python(folder: Path, *arguments: str, **names: str) -> subprocess.CompletedProcess[str]:
    root = str(Path(str(sim_node.__file__)).parents[1])
    environment = {**os.environ, "SIM_NODE_CACHE": str(folder / f"cache-{arguments[0]}"), "PYTHONPATH": root, **names}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def _run(made: Path, *arguments: str, device: str = "cpu") -> subprocess.CompletedProcess[str]:
    return _python(made.parent, "run.py", device, *arguments, SIM_NODE_BUNDLE=str(made))


def _rewritten(made: Path, **changes: Any) -> None:
    file = made / bundle.MANIFEST
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


@pytest.mark.parametrize("device", ["cpu", GPU])
def test_it_runs_without_llvm(made: Path, device: str) -> None:
    done = _run(made, "--past", device=device)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[0.0, 2.0, 4.0, 6.0]\n")
    line = 1 + _KERNELS.splitlines().index("    x[i + n] = scaled(x[i + n]) + sn.sin(0.0)")
    assert f"plantlike.py:{line}" in done.stdout
    assert "n < 3: 3 < 3 is false" in done.stdout


def test_without_llvm_and_bundle_it_says_so(made: Path) -> None:
    done = _python(made.parent, "run.py", "cpu")
    assert "no compiler here" in done.stderr
    assert "pip install llvmlite" in done.stderr


def test_a_changed_source_is_told(made: Path) -> None:
    (made.parent / "plantlike.py").write_text(_KERNELS.replace("GAIN = 2.0", "GAIN = 3.0"))
    done = _run(made)
    assert done.returncode != 0
    assert "has changed since" in done.stderr
    assert str(made) in done.stderr


def test_a_comment_changes_nothing(made: Path) -> None:
    (made.parent / "plantlike.py").write_text("# a comment\n" + _KERNELS.replace("    i =", "    # here\n    i ="))
    assert _run(made).stdout == "[0.0, 2.0, 4.0, 6.0]\n"


def _digest(made: Path) -> str:
    found = json.loads((made / bundle.MANIFEST).read_text())["kernels"][0]["digest"]
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize("target", [one.name for one in _TARGETS])
def test_the_target_that_this_processor_runs_is_used(made: Path, target: str) -> None:
    manifest = json.loads((made / bundle.MANIFEST).read_text())
    assert bundle.read(made).target is HOST
    _rewritten(made, targets={target: manifest["targets"][target]})
    found = bundle.read(made)
    assert found.target is TARGETS[target]
    assert found.code(_digest(made)) is not None
    assert found.code("0" * 64) is None


@pytest.mark.gpu
def test_a_gpu_runs_what_its_driver_makes_of_the_ptx_and_the_cache_keeps_that(made: Path) -> None:
    kept = made.parent / "cache-run.py"
    for _ in range(2):
        done = _run(made, device="cuda:0")
        assert (done.returncode, done.stdout) == (0, "[0.0, 2.0, 4.0, 6.0]\n"), done.stderr
        assert [path.suffix for path in kept.iterdir()] == [".cubin"]
        assert "-bundled-" in next(kept.iterdir()).name


@pytest.mark.parametrize(
    ("arch", "taken"), [("sm_75", "sm_75"), ("sm_89", "sm_80"), ("sm_90", "sm_90"), ("sm_120", "sm_90")]
)
def test_the_ptx_of_the_newest_gpu_that_is_no_newer_is_taken(made: Path, arch: str, taken: str) -> None:
    found = bundle.read(made).assembly(_digest(made), isa.gpu(arch))
    assert found is not None
    assert f".target {taken}\n".encode() in found[1]
    assert found[0].parent.name == taken
    assert bundle.read(made).assembly("0" * 64, isa.gpu(arch)) is None


def test_a_bundle_of_gpus_alone_is_one(made: Path) -> None:
    _rewritten(made, targets={"sm_90": isa.gpu("sm_90").identity, "sm_80": "another"})
    found = bundle.read(made)
    assert (found.target, found.gpus, found.code(_digest(made))) == (None, ("sm_90",), None)
    assert found.assembly(_digest(made), isa.gpu("sm_89")) is None
    assert found.assembly(_digest(made), isa.gpu("sm_90")) is not None


def test_without_llvm_a_bundle_for_others_is_told(made: Path) -> None:
    _rewritten(made, targets={"sm_90": isa.gpu("sm_90").identity})
    done = _run(made)
    assert "has kernel 'scale', but nothing for this processor, and there is no compiler here" in done.stderr
    assert "build the bundle for this processor, too (--target)" in done.stderr


def _object(made: Path) -> Path:
    return next((made / "host").glob("*.o"))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def _tampered(path: Path) -> None:
    image = bytearray(path.read_bytes())
    image[len(image) // 2] ^= 1
    path.write_bytes(image)


@pytest.mark.parametrize("damage", [_cut, _tampered, Path.unlink])
def test_a_damaged_object_is_refused_and_named(made: Path, damage: Any) -> None:
    damage(_object(made))
    with pytest.raises(BundleError, match=r"scale-.*build the bundle again"):
        bundle.read(made).code(_digest(made))


@pytest.mark.parametrize("damage", [_cut, _tampered, Path.unlink])
def test_damaged_ptx_is_refused_and_named(made: Path, damage: Any) -> None:
    damage(next((made / "sm_90").glob("*.ptx")))
    with pytest.raises(BundleError, match=r"sm_90/scale-.*build the bundle again"):
        bundle.read(made).assembly(_digest(made), isa.gpu("sm_90"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": 99}, "format 99"),
        ({"backend": "0"}, "another compiler"),
        ({"targets": {"aarch64" if os.uname().machine == "x86_64" else "x86-64-v2": "none"}}, "no target that this"),
        ({"targets": {"sm_90": "none", "sm_12": "sm_12+ptx10"}}, "no target that this processor or a GPU runs"),
        ({"targets": {"sm_100": isa.gpu("sm_100").identity}}, "damaged"),
        ({"targets": None}, "damaged"),
        ({"kernels": [{}]}, "damaged"),
        ({"kernels": None}, "damaged"),
    ],
)
def test_a_malformed_or_stale_manifest_is_refused_and_named(made: Path, changes: Any, words: str) -> None:
    _rewritten(made, **changes)
    with pytest.raises(BundleError, match=words) as caught:
        bundle.read(made)
    assert str(made / bundle.MANIFEST) in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00\xff", '"x"'])
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / bundle.MANIFEST).write_bytes(text.encode("latin-1"))
    with pytest.raises(BundleError, match="manifest"):
        bundle.read(tmp_path)


def test_a_file_outside_of_the_bundle_is_refused(made: Path) -> None:
    manifest = json.loads((made / bundle.MANIFEST).read_text())
    for one in manifest["kernels"][0]["objects"].values():
        one["file"] = "../secret.o"
    _rewritten(made, kernels=manifest["kernels"])
    with pytest.raises(BundleError, match="damaged"):
        bundle.read(made)


def test_it_replaces_a_bundle_and_nothing_else(tmp_path: Path) -> None:
    bundle.write(tmp_path / "made", [HOST], [])
    bundle.write(tmp_path / "made", [HOST], [])
    assert [path.name for path in tmp_path.iterdir()] == ["made"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    with pytest.raises(BundleError, match="no bundle"):
        bundle.write(tmp_path / "mine", [HOST], [])
    assert (tmp_path / "mine" / "notes.txt").exists()


def test_an_object_that_is_none_is_refused(made: Path) -> None:
    _object(made).write_bytes(b"no object")
    manifest = json.loads((made / bundle.MANIFEST).read_text())
    for one in manifest["kernels"][0]["objects"].values():
        one["sha256"] = hashlib.sha256(b"no object").hexdigest()
    _rewritten(made, kernels=manifest["kernels"])
    with pytest.raises(BundleError, match=r"scale-.*the object is damaged"):
        bundle.read(made).code(_digest(made))


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BundleError, match="cannot be written"):
        bundle.write(tmp_path / "file" / "made", [HOST], [])


def test_a_record_that_is_none_is_refused(made: Path) -> None:
    (kernel,) = json.loads((made / bundle.MANIFEST).read_text())["kernels"]
    _rewritten(made, kernels=[{**kernel, "dims": 9}])
    with pytest.raises(BundleError, match=r"kernel 'scale': .*a value in it has the wrong type"):
        bundle.read(made).known(kernel["fingerprint"], [])
