"""How long it takes to make kernels ready to launch: 12 of 150 statements, beside Warp and numba in the same run.

On the CPU, or on a GPU, where ready means loaded machine code of it, and numba is numba-cuda.

Each figure is of a fresh process (``compiling.py``): ours the median of three, the peers' of one, which takes many
seconds. ``cold`` starts with the contender's cache empty, ``warm`` finds all kernels in it, ``changed`` finds all but
one, in which a constant is another. Imports are figures of their own: all that a package imports on first use, and
LLVM where something is to be compiled. Gradients are off. Warp compiles a module at a time, and numba notices that a
file has changed, not what in it, so both make all 12 anew for one. The file is written only where its text is another,
and Python keeps its bytecode, as it does for an author's files. Of a GPU, starting the driver and making the context
is import, for every contender alike, and the cache that the driver itself keeps of what it made of PTX is off.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from sim_node.cli.benches import plant_source
from sim_node.cli.benches.measurement import Measurement
from sim_node.device.cuda import Cuda

KERNELS = 12
ROUNDS = {"sim_node": 3}
PEERS = ("warp", "numba")
GPU_PEERS = ("warp", "numba_cuda")
_CHANGED = KERNELS // 2


def run(gpu: Cuda | None = None) -> Measurement:
    """Measure milliseconds from source to code that can be called, for each state of the cache, on a GPU or the CPU."""
    result = Measurement("compile", {"kernels": KERNELS, "statements": plant_source.STATEMENTS}, device=gpu)
    peers, device = (PEERS, "cpu") if gpu is None else (GPU_PEERS, gpu.name)
    for contender in ("sim_node", *peers):
        rounds = [_round(contender, device) for _ in range(ROUNDS.get(contender, 1))]
        figures = result.figures if contender == "sim_node" else result.peers.setdefault(contender, {})
        if "absent" in rounds[0]:
            figures["absent"] = rounds[0]["absent"]
            continue
        if contender != "sim_node":
            figures["version"] = rounds[0].pop("version")
        figures.update({key: round(median(one[key] for one in rounds), 2) for key in rounds[0] if key != "version"})
    for peer, figures in result.peers.items():
        for state in ("cold", "warm", "changed"):
            if f"{state}_ms" in figures:
                ratio = figures[f"{state}_ms"] / result.figures[f"{state}_ms"]
                result.ratios[f"vs_{peer}_{state}"] = round(ratio, 1)
    return result


def _round(contender: str, device: str) -> dict[str, Any]:
    """Start three processes on one cache that was empty before the first."""
    with tempfile.TemporaryDirectory(prefix="sim_node.bench.") as folder:
        file = Path(folder, "plants.py")
        figures: dict[str, Any] = {}
        for state in ("cold", "warm", "changed"):
            changed = _CHANGED if state == "changed" else None
            text = plant_source.source(contender, KERNELS, changed=changed)
            if not file.exists() or file.read_text("utf-8") != text:  # a file that nobody touched keeps its bytecode
                file.write_text(text, "utf-8")
            answer = _process(contender, file, device, compiles=state != "warm")
            if "absent" in answer:
                return answer
            figures |= {f"{state}_ms": answer["build_ms"], f"import_{state}_ms": answer["import_ms"]}
        return {"version": answer["version"], **figures}


def _process(contender: str, file: Path, device: str, *, compiles: bool) -> dict[str, Any]:
    caches = dict.fromkeys(("SIM_NODE_CACHE", "NUMBA_CACHE_DIR", "WARP_CACHE_PATH"), str(file.parent / "cache"))
    surroundings = {**os.environ, **caches, "CUDA_CACHE_DISABLE": "1"}
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
    module = "sim_node.cli.benches.compiling"
    arguments = [sys.executable, "-m", module, contender, str(file), device, *["compiles"][:compiles]]
    ended = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True, env=surroundings)
    answer: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return answer
