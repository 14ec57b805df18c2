"""Every C program here, plain and under the sanitizers: test_*.c with a main that returns 0 when all is right."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FLAGS = [
    *("-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-fno-omit-frame-pointer"),
    *("-Wall", "-Wextra", "-Wpedantic", "-Werror"),
    f"-I{ROOT / 'include'}",
    f"-I{ROOT / 'src'}",
]
SANITIZERS = {
    "plain": [],
    "address-undefined": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    # it does not model fences and says so; compilers that have no such warning are told not to mind
    "thread": ["-fsanitize=thread", "-Wno-unknown-warning-option", "-Wno-tsan"],
}
PROGRAMS = sorted(HERE.glob("test_*.c"))
COMPILER = os.environ.get("CC", "cc").split()


@pytest.fixture(scope="module")
def sources_digest() -> bytes:
    """What a compiled program may be made of, and the compiler."""
    total = hashlib.sha256(subprocess.run([*COMPILER, "--version"], capture_output=True, check=True).stdout)
    for folder in (ROOT / "include", ROOT / "src", HERE):
        for path in sorted(folder.rglob("*.[ch]")):
            total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.digest()


def compiled(program: Path, sanitizer: str, digest: bytes, folder: Path) -> Path:
    """Return the executable, compiled if no earlier run has left it in the folder."""
    flags = [*FLAGS, *SANITIZERS[sanitizer]]
    key = hashlib.sha256(digest + repr(flags).encode()).hexdigest()[:16]
    executable = folder / f"{program.stem}.{sanitizer}.{key}"
    if not executable.exists():
        for old in folder.glob(f"{program.stem}.{sanitizer}.*"):
            old.unlink()
        unfinished = folder / f".{executable.name}.{os.getpid()}"
        command = [*COMPILER, *flags, str(program), "-o", str(unfinished), "-lpthread", "-ldl", "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
        unfinished.replace(executable)
    return executable


@pytest.mark.parametrize("sanitizer", SANITIZERS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program(
    program: Path, sanitizer: str, sources_digest: bytes, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    executable = compiled(program, sanitizer, sources_digest, request.config.cache.mkdir("native"))
    command = [str(executable)]
    if sanitizer == "thread" and shutil.which("setarch"):
        # older ThreadSanitizers refuse the address space of kernels that randomise more bits of it
        command = ["setarch", "-R", *command]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
