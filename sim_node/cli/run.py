"""``sim-node run``: run a plant as a ROS node, or several that are coupled, or one offline into a bag."""

from __future__ import annotations

import inspect
import sys
import time
import zipfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any

import typer

from sim_node.cli.arguments import assignments, use_bundle
from sim_node.cli.output import Outcome, Table, progress
from sim_node.errors import SimNodeError
from sim_node.errors.suggestion import suggestion
from sim_node.stop import stop_requested


def command(
    plant: Annotated[
        str, typer.Argument(help="The plant, as module:Class or file.py:Class; or a .yaml file of several.")
    ],
    offline: Annotated[bool, typer.Option("--offline", help="Step with no ROS, as fast as possible.")] = False,
    seconds: Annotated[
        float | None, typer.Option(min=0.0, max=1e9, help="Run so long; offline, in simulated time.")
    ] = None,
    rate: Annotated[float, typer.Option(min=1e-3, max=1e6, help="Ticks a second.")] = 1000.0,
    substeps: Annotated[int, typer.Option(min=1, help="Plan runs a tick.")] = 1,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Seed of random numbers and initial state.")] = 0,
    param: Annotated[list[str] | None, typer.Option(help="name=value; repeatable.")] = None,
    name: Annotated[str, typer.Option(help="Name of the node, and of its topics in a bag.")] = "plant",
    bag: Annotated[Path | None, typer.Option(help="Offline: a .mcap file, or a folder.")] = None,
    storage: Annotated[str, typer.Option(help="Offline: mcap or sqlite3.")] = "mcap",
    keyframe_every: Annotated[int, typer.Option(min=0, help="Ticks between keyframes; 0: only the first.")] = 1000,
    given: Annotated[
        list[str] | None, typer.Option("--input", help="Offline: name=value, held all the time; repeatable.")
    ] = None,
    inputs: Annotated[
        Path | None, typer.Option(help="Offline: .npz of an array an input, (ticks, …); the last value is held.")
    ] = None,
    device: Annotated[
        str,
        typer.Option(help="Where kernels run: cpu, a GPU as cuda:0, or python (slow, for debuggers)."),
    ] = "cpu",
    force: Annotated[bool, typer.Option(help="Replace an existing bag.")] = False,
    bundle: Annotated[Path | None, typer.Option(help="Take kernels from what 'sim-node build --out' wrote.")] = None,
    only: Annotated[str, typer.Option(help="Of a file of several plants, the node to run; default: all.")] = "",
) -> Outcome:
    """Run a plant: as a lifecycle node until Ctrl-C, or --offline into a bag. A .yaml file runs all its plants."""
    if plant.endswith((".yaml", ".yml")):
        asked, options = locals(), inspect.signature(command).parameters
        other = [
            key for key in options if key not in ("plant", "seconds", "only") and asked[key] != options[key].default
        ]
        if other:
            raise SimNodeError(f"option '{other[0]}' is for one plant; in {plant} each has parameters of its own")
        return _run_network(Path(plant), only, seconds)
    if only:
        raise SimNodeError(f"--only is for a .yaml file of several plants, not for '{plant}'")
    parameters = assignments(param or (), "--param")
    if not offline:
        taken = {"--bag": bag, "--input": given, "--inputs": inputs}
        wrong = [option for option, value in taken.items() if value]
        if wrong:
            raise SimNodeError(f"{wrong[0]} is for --offline; use 'sim-node record' beside a running node")
        return _run_node(plant, name, seconds, rate, substeps, seed, keyframe_every, parameters, bundle, device)
    if bundle is not None:
        use_bundle(bundle)
    if seconds is None or bag is None:
        raise SimNodeError(f"--offline needs {'--seconds' if seconds is None else '--bag'}")
    return _run_offline(
        plant, name, seconds, rate, substeps, seed, keyframe_every, parameters,
        bag, storage, force, device, {**_load(inputs), **assignments(given or (), "--input")},
    )  # fmt: skip


def _load(file: Path | None) -> dict[str, Any]:
    import numpy as np

    if file is None:
        return {}
    try:
        loaded = np.load(file)
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            raise ValueError("it holds one array without a name; write it with numpy.savez(file, NAME=array)")
        with loaded as arrays:
            return dict(arrays)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as fault:
        raise SimNodeError(f"--inputs {file}: not a .npz file of arrays: {fault}") from fault


def _run_offline(
    plant: str, name: str, seconds: float, rate: float, substeps: int, seed: int, keyframe_every: int,
    parameters: dict[str, Any], bag: Path, storage: str, force: bool, device: str, inputs: dict[str, Any],
) -> Outcome:  # fmt: skip
    from sim_node.bridge.name import ring_name
    from sim_node.plant import Stepper, reference
    from sim_node.replay.record import record_offline
    from sim_node.replay.writer import BagWriter

    ring_name(name)  # as of the node that would run it
    kind = reference(plant)
    dt_ns = round(1e9 / rate)
    ticks = round(seconds * 1e9 / dt_ns)
    stepper = Stepper(kind(**parameters), dt_ns=dt_ns, substeps=substeps, seed=seed, device=device)
    with progress("run") as update, BagWriter(bag, storage, force) as writer:
        done = record_offline(
            stepper,
            writer,
            name=name.strip("/"),
            ticks=ticks,
            keyframe_every=keyframe_every,
            inputs=inputs,
            progress=lambda count: update(count, ticks, f"{count} of {ticks} ticks"),
        )
    simulated = done.ticks * dt_ns / 1e9
    result = {
        "bag": str(bag),
        "plant": plant,
        "ticks": done.ticks,
        "seconds": simulated,
        "substeps": substeps,
        "keyframes": done.keyframes,
        "wall_seconds": done.wall_s,
        "realtime_factor": simulated / done.wall_s if done.wall_s else None,
        "interrupted": done.interrupted,
    }
    error = f"interrupted after {done.ticks} of {ticks} ticks; {bag} holds them" if done.interrupted else ""
    return Outcome(result, [Table("run", ("", "value"), list(result.items()))], 130 if error else 0, error)


def _run_node(
    plant: str, name: str, seconds: float | None, rate: float, substeps: int, seed: int, keyframe_every: int,
    parameters: dict[str, Any], bundle: Path | None, device: str,
) -> Outcome:  # fmt: skip
    settings: dict[str, Any] = {
        "plant": plant,
        "rate": rate,
        "substeps": substeps,
        "seed": seed,
        "keyframe_every": keyframe_every,
        "device": device,
        "bundle": str(bundle.absolute()) if bundle else "",
    }
    settings.update({f"plant_parameters.{key}": value for key, value in parameters.items()})
    with stop_requested() as stop, _nodes({name: settings}) as nodes:
        began = time.monotonic()
        stop.wait(seconds)
        full = nodes[0].get_fully_qualified_name()
        result = {"plant": plant, "node": full, "seconds": time.monotonic() - began}
    return Outcome(result, [Table("run", ("", "value"), list(result.items()))])


def _run_network(path: Path, only: str, seconds: float | None) -> Outcome:
    from sim_node.wires.conductor import conducting
    from sim_node.wires.network import Network

    network = Network.read(path)
    if not network.plants:
        raise SimNodeError(f"{path}: plants: there are none to run")
    name = f"/{only.strip('/')}"
    if only and name not in network.plants:
        raise SimNodeError(f"--only {only}: no such plant in {path}{suggestion(name, network.plants)}")
    plants = {name: network.plants[name]} if only else network.plants
    with stop_requested() as stop:
        coupled = conducting(network.couplings, tell, stop) if network.couplings and not only else None
        with _nodes(plants, coupled) as nodes:
            began = time.monotonic()
            stop.wait(seconds)
            steps = {node.get_fully_qualified_name(): node.assembly.stepper.step for node in nodes}
    result = {"plants": steps, "seconds": time.monotonic() - began}
    return Outcome(result, [Table("run", ("node", "ticks"), list(steps.items()))])


def tell(line: str) -> None:
    """Print what happens to couplings."""
    print(f"sim-node couplings: {line}", file=sys.stderr, flush=True)


def _nodes(
    plants: Mapping[str, Mapping[str, Any]], coupled: AbstractContextManager[object] | None = None
) -> AbstractContextManager[list[Any]]:
    try:
        from sim_node.node.process import running
    except ImportError as fault:
        raise SimNodeError(f"there is no ROS here ({fault}); see 'sim-node doctor', or run it --offline") from fault
    return running(plants, coupled=coupled)
