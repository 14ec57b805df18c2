"""``sim-node build``: compile ahead of the first run."""

from __future__ import annotations

import runpy
import sys
import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from sim_node.cli.arguments import assignments
from sim_node.cli.output import Outcome, Table, progress
from sim_node.errors import SimNodeError, StabilityWarning, placed


def command(
    plants: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CONFIG|PLANT]...", help="A node's YAML file, or a plant; default: the package's own."),
    ] = None,
    script: Annotated[
        list[Path] | None,
        typer.Option(help="A Python file to run: what it launches, sums and sorts too, is compiled; repeatable."),
    ] = None,
    param: Annotated[list[str] | None, typer.Option(help="name=value for every plant; repeatable.")] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(help="Of a bundle: host, x86-64-v2, -v3, -v4, aarch64 or, a GPU, sm_90; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write a bundle into this folder, that runs without LLVM.")] = None,
    clean: Annotated[bool, typer.Option("--clean", help="Empty the cache before.")] = False,
) -> Outcome:
    """Compile kernels of plants and scripts into the cache, or a bundle, so that their first start compiles nothing."""
    from sim_node.cli.plants import plants_of
    from sim_node.compiler import bundle
    from sim_node.compiler.backend.isa import named
    from sim_node.compiler.backend.target import HOST
    from sim_node.compiler.build import build, built, holding, member, objects
    from sim_node.plant import Stepper, reference
    from sim_node.plant.commit import publish
    from sim_node.plant.hashing import add
    from sim_node.plant.reference import BUILT_IN

    if target and out is None:
        raise SimNodeError("--target is for a bundle; give its folder with --out")
    targets = [named(name) for name in dict.fromkeys(target or [HOST.name])]
    given = assignments(param or (), "--param")
    chosen = [found for text in plants or (() if script else BUILT_IN) for found in plants_of(text)]
    cache, began = objects(), time.perf_counter()
    removed = cache.clear() if clean else None
    compiled, loaded = cache.compiled, cache.loaded
    found, guarded = list[str](), list[str]()
    with holding(), progress("build") as update, warnings.catch_warnings():
        warnings.simplefilter("ignore", StabilityWarning)
        for number, (text, parameters) in enumerate(chosen):
            update(number, len(chosen), text)
            # Which kernels a plant launches is known when its plan is built, as the stepper does.
            stepper = Stepper(reference(text)(**{**parameters, **given}), dt_ns=1_000_000)
            guarded += [f"{text}: {name}" for name in stepper.guarded]
            found += [f"{text} at a tick of 1 ms: {warning}" for warning in stepper.warnings]
        for file in script or ():
            _run(file)
        if any(one.is_gpu for one in targets):
            for kernel in (add, publish):  # what ends a tick on a GPU; the host does that in C
                build(kernel)
        compiled, loaded = cache.compiled - compiled, cache.loaded - loaded
        # Whatever was built in this process was for these plants and scripts.
        members = [member(kernel, layouts, targets) for kernel, layouts in built()] if out is not None else []
    result: dict[str, Any] = {
        "kernels": compiled + loaded,
        "compiled": compiled,
        "cached": loaded,
        "seconds": time.perf_counter() - began,
        "cache": str(cache.path),
        "targets": [one.name for one in targets],
        "guards": guarded,
    }
    if removed is not None:
        result["removed"] = removed.objects + removed.records
    if out is not None:
        result["bundle"] = str(bundle.write(out, targets, members).parent)
    return Outcome(result, [Table("build", ("", "value"), list(result.items()))], warnings=found)


def _run(script: Path) -> None:
    """Run a file as ``python FILE`` does. Raises SimNodeError where it ends with an error."""
    arguments, path = sys.argv, list(sys.path)
    sys.argv, sys.path[:] = [str(script)], [str(script.resolve().parent), *path]
    try:
        runpy.run_path(str(script.resolve()), run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise SimNodeError(f"--script {script}: it ended with {ended.code}") from ended
    except Exception as fault:
        raise SimNodeError(f"--script {script}: {placed(fault)}") from fault
    finally:
        sys.argv, sys.path[:] = arguments, path
