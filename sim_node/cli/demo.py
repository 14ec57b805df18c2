"""``sim-node demo``: a plant, a controller and a recorder in a closed loop, and the proof that its bag replays."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim_node.cli.output import Outcome, Table, progress
from sim_node.errors import SimNodeError

if TYPE_CHECKING:
    from sim_node.cli.rig.session import Run
    from sim_node.plant.statistics import Distribution
    from sim_node.replay.report import Report

FIELDS = ("body", "wheel", "road")


def command(
    seconds: Annotated[float, typer.Option(min=0.1, max=3600.0, help="How long to run, in real time.")] = 10.0,
    rate: Annotated[float, typer.Option(min=1.0, max=20e3, help="Ticks a second.")] = 1000.0,
    spin_us: Annotated[
        float, typer.Option(min=0.0, max=1e6, help="Spin so long before a tick (clock) and for a tick (controller).")
    ] = 0.0,
    folder: Annotated[Path, typer.Option(help="Where bag and picture go; those of the last demo are replaced.")] = Path(
        "sim_node_demo"
    ),
    name: Annotated[str, typer.Option(help="Name of the node, and so of its ring.")] = "suspension",
) -> Outcome:
    """Close the loop: a car's suspension in a ROS 2 node, its controller in another process, a recorder, a proof."""
    try:
        import rclpy  # noqa: F401
    except ImportError as fault:
        raise SimNodeError(
            f"the demo runs a ROS 2 node, and there is no ROS here ({fault}); see 'sim-node doctor'"
        ) from fault
    from sim_node.cli.rig import session
    from sim_node.replay.verify import verify

    bag, wanted = folder / "bag.mcap", max(round(seconds * rate), 1)
    with _alone(folder):
        with progress("run") as update:

            def told(ticks: int, late: Distribution, misses: int) -> None:
                lateness = f"lateness p50 {late.p50 / 1e3:.0f} p99 {late.p99 / 1e3:.0f} µs"
                update(ticks, wanted, f"{ticks} of {wanted} ticks, {lateness}, {misses} missed")

            run = session.run(bag, wanted, rate, name, spin_us, told)
        with progress("verify") as update:
            report = verify(bag, progress=lambda done, total, ticks: update(done, total, f"{ticks} ticks"))
        picture = _picture(run, report, bag, folder / "travel.html")
    result = _result(run, report, bag, picture)
    code, error = report.exit_code, report.fault
    if code == 0 and report.verified < run.ticks:
        code, error = 1, f"{run.ticks - report.verified} of {run.ticks} ticks are not verified: the bag lacks them"
    return Outcome(result, [_table(run, report, result)], code, error, report.notes)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep the folder to this demo, which replaces the bag in it; the lock ends with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as fault:
        raise SimNodeError(f"another demo writes into {folder} now; give this one another --folder") from fault
    finally:
        os.close(descriptor)


def _picture(run: Run, report: Report, bag: Path, to: Path) -> Path:
    """Draw the run out of its bag, and the same car on the same road with the controller off."""
    import numpy as np

    from sim_node.cli.rig.picture import Travel, draw
    from sim_node.kernels.quarter_car import QuarterCar
    from sim_node.plant import Stepper
    from sim_node.replay import history

    on = history.of_bag(bag, FIELDS)
    dt_ns = round((on.seconds[1] - on.seconds[0]) * 1e9) if len(on.seconds) > 1 else 1_000_000
    alone = Stepper(QuarterCar(), dt_ns=dt_ns)
    off = history.of_stepper(alone, FIELDS, np.zeros((len(on.seconds), alone.input_layout.size), np.uint8))
    drawn = [Travel(each.seconds, *(each.values[field][:, 0] for field in FIELDS)) for each in (on, off)]
    facts = {
        "ticks": str(run.ticks),
        "verified bit for bit": str(report.verified),
        "copies per tick": f"{run.copies_per_tick:g}",
        "loop delay": f"{run.delay.p50} tick",
    }
    return draw(drawn[0], drawn[1], facts, to)


def _result(run: Run, report: Report, bag: Path, picture: Path) -> dict[str, Any]:
    import numpy as np

    ages = np.array(run.ages_ns or [0]) / 1e3
    return {
        "ticks": run.ticks,
        "verified": report.verified,
        "diverged": report.diverged,
        "copies_per_tick": run.copies_per_tick,
        "transport": run.transport,
        "device": report.device,
        "bag": str(bag),
        "picture": str(picture),
        "deadline": {"p50_us": run.lateness.p50 / 1e3, "p99_us": run.lateness.p99 / 1e3, "misses": run.misses},
        "bridge": {
            "p50_us": round(float(np.percentile(ages, 50)), 1),
            "p99_us": round(float(np.percentile(ages, 99)), 1),
            "ticks": len(run.ages_ns),
        },
        "step_time": {"p50_us": run.step_time.p50 / 1e3, "p99_us": run.step_time.p99 / 1e3},
        "loop_delay_ticks": {"p50": run.delay.p50, "p99": run.delay.p99},
    }


def _table(run: Run, report: Report, result: dict[str, Any]) -> Table:
    deadline, bridge, step, delay = (result[key] for key in ("deadline", "bridge", "step_time", "loop_delay_ticks"))
    rows = [
        ("ticks", run.ticks),
        ("verified, bit for bit", f"{report.verified} ({report.diverged} diverged)"),
        ("lateness of a tick", f"p50 {deadline['p50_us']:.1f} µs, p99 {deadline['p99_us']:.1f} µs"),
        ("deadlines missed", deadline["misses"]),
        ("time of a step", f"p50 {step['p50_us']:.1f} µs, p99 {step['p99_us']:.1f} µs"),
        ("plant → controller", f"p50 {bridge['p50_us']:.1f} µs, p99 {bridge['p99_us']:.1f} µs"),
        ("closed loop delay", f"p50 {delay['p50']}, p99 {delay['p99']} ticks"),
        ("copies per tick", f"{run.copies_per_tick:g}"),
        ("transport", run.transport),
        ("bag", result["bag"]),
        ("picture", result["picture"]),
    ]
    verdict = "the loop is closed and its bag replays" if report.exit_code == 0 else "the bag DOES NOT replay"
    return Table(f"sim-node demo: {verdict}", ("", ""), rows)
