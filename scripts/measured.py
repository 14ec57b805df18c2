"""Writes the README's table of figures from docs/measurements/, which `sim-node bench NAME --save` wrote.

`python scripts/measured.py` rewrites the table; the test of the README compares it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- measured: scripts/measured.py -->\n", "<!-- end of measured -->"


def read(name: str) -> dict[str, Any]:
    """Read one measurement."""
    measured: dict[str, Any] = json.loads((ROOT / "docs" / "measurements" / f"{name}.json").read_text("utf-8"))
    return measured


def table() -> str:
    """Return the table in Markdown, and under it the machine that it was measured on."""
    launch, bridge, tick = read("launch"), read("bridge"), read("tick")
    spring, fluid, builds = read("spring"), read("lbm"), read("compile")
    springs = {name: f"{peer['gbs_1M']:.0f} GB/s" for name, peer in spring["peers"].items()}
    warp, numba, ours = launch["peers"]["warp"], launch["peers"]["numba"], launch["figures"]
    native, timer = tick["figures"]["native"], tick["peers"]["rclpy_timer"]
    sleep, spin = tick["peers"]["sleep_loop"], tick["figures"]["native_spin"]
    ratios = launch["ratios"]
    rows = [
        (
            "launch of a small kernel, whole Python call",
            _us(ours["launch_us_1"]),
            f"Warp {_us(warp['launch_us_1'])} · numba {_us(numba['launch_us_1'])}",
            f"{ratios['vs_warp']:.0f} × Warp",
        ),
        (
            "the same in a plan",
            _us(ours["plan_us_1"]),
            f"Warp, recorded {_us(warp['recorded_us_1'])}",
            f"{ratios['plan_vs_warp_recorded']:.0f} × Warp",
        ),
        (
            "a million springs a step, indices checked, one core",
            f"{spring['figures']['gbs_1M']:.0f} GB/s",
            f"Warp {springs['warp']} · numba {springs['numba']}, unchecked",
            f"{spring['ratios']['vs_warp']:.1f} × Warp",
        ),
        (
            "a fluid, D2Q9, indices checked, one core",
            f"{fluid['figures']['checked']:.0f} M cells/s",
            f"Warp {fluid['peers']['warp']['checked']:.0f} M cells/s",
            f"{fluid['ratios']['vs_warp']:.1f} × Warp",
        ),
        (
            "12 kernels of 150 statements from source to code / from the cache",
            f"{builds['figures']['cold_ms']:.0f} ms / {builds['figures']['warm_ms']:.0f} ms",
            f"Warp {builds['peers']['warp']['cold_ms']:.0f} ms / {builds['peers']['warp']['warm_ms']:.0f} ms",
            f"{builds['ratios']['vs_warp_cold']:.1f} / {builds['ratios']['vs_warp_warm']:.1f} × Warp",
        ),
        *_bridge(bridge),
        (
            "lateness of a 1 kHz tick, p50 / p99",
            _pair(native["lateness"]),
            f"rclpy timer {_pair(timer['lateness'])} · Python sleep {_pair(sleep['lateness'])}",
            f"{tick['ratios']['rclpy_timer_p50_vs_native']:.1f} × rclpy",
        ),
        ("the same, spinning the last 200 µs", _pair(spin["lateness"]), "", ""),
    ]
    lines = ["| | sim_node | others, in the same run | |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    machine = bridge["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    lines.append(
        f"\nMedians. {machine['cores']} cores of a virtual {machine['processor']}, no real-time "
        f"kernel or priority; Python {machine['python']}, {versions}. "
        "Histograms and all figures: [docs/measurements](docs/measurements)."
    )
    return "\n".join(lines) + "\n"


def _bridge(bridge: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    ours, peers, ratios = bridge["figures"], bridge["peers"], bridge["ratios"]
    rclpy, reader, loop = peers["rclpy"], peers["c_reader"], peers["cpp_controller"]["loop"]
    rows = []
    for size in ("4kB", "1MB", "64MB", "1GB"):
        others = [f"iceoryx2 {_waits(peers['iceoryx2'], 'call', size)}"]
        times = f"{ratios[f'vs_iceoryx2_{size}']:.1f} / {ratios[f'vs_iceoryx2_{size}_futex']:.1f} × iceoryx2"
        if f"message_{size}" in rclpy:
            message, alone = rclpy[f"message_{size}"]["p50_us"], rclpy[f"serialize_{size}"]["p50_us"]
            others.append(f"rclpy message {_us(message)}, serializing alone {_us(alone)}")
            times += f" · {ratios[f'vs_rclpy_{size}']:.0f} × serializing"
        state = f"{size[:-2]} {size[-2:]} of state to another process, spin / futex"
        rows.append((state, _waits(ours, "wake", size), " · ".join(others), times))
    many = f"{_waits(ours, 'wake', '64_readers')}, alone {_waits(ours, 'wake', '1_readers')}"
    polled = _us(peers["shared_memory"]["call_spin_4kB"]["p50_us"])
    rows += [
        ("4 kB to one of 64 readers, spin / futex", many, "", ""),
        (
            "4 kB to a reader in C, spin / futex",
            _waits(reader, "wake", "4kB"),
            f"Python polling shared_memory {polled}",
            "",
        ),
        (
            "a loop in lockstep with a controller in C++, spinning; p50 / p99 / p99.9",
            " / ".join(_us(loop[f"{key}_us"]) for key in ("p50", "p99", "p999")),
            "",
            "",
        ),
    ]
    return rows


def _waits(figures: dict[str, Any], kind: str, what: str) -> str:
    return " / ".join(_us(figures[f"{kind}_{wait}_{what}"]["p50_us"]) for wait in ("spin", "futex"))


def _pair(distribution: dict[str, float]) -> str:
    return f"{_us(distribution['p50_us'])} / {_us(distribution['p99_us'])}"


def _us(value: float) -> str:
    if value >= 1000:
        return f"{value / 1000:.3g} ms"
    return f"{value:.2g} µs" if value < 10 else f"{value:.0f} µs"


def rewrite(text: str) -> str:
    """Put the table where the README's markers are."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + table() + END + tail


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(rewrite(readme.read_text("utf-8")), "utf-8")
