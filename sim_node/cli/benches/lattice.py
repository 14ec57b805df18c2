"""One step of a lattice Boltzmann fluid in two dimensions with nine velocities (D2Q9), as kernels of ours and of peers.

Single relaxation time: Qian, d'Humières and Lallemand (1992), "Lattice BGK models for Navier-Stokes equation". A cell
pulls the nine populations that stream to it from its neighbours, collides, and writes its own; the grid is periodic.
"""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def, type-arg"
# (kernels are typed in the kernel language)

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

import sim_node as sn

OMEGA = 1.2  # the inverse relaxation time, steps
VELOCITIES = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))  # x, y
WEIGHTS = (4 / 9, *[1 / 9] * 4, *[1 / 36] * 4)


@sn.func
def equilibrium(weight: float, density: float, along: float, square: float) -> float:
    """The population of a velocity at rest with the flow; ``along`` and ``square`` are products with the flow's."""
    return weight * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square)


@sn.kernel
def step(f: sn.array(dtype=float, ndim=3), g: sn.array(dtype=float, ndim=3), omega: float):
    """Ours: the populations before and after, velocity by velocity."""
    y, x = sn.tid()
    height, width = f.shape[1], f.shape[2]
    west = x - 1 if x > 0 else width - 1
    east = x + 1 if x < width - 1 else 0
    south = y - 1 if y > 0 else height - 1
    north = y + 1 if y < height - 1 else 0
    f0 = f[0, y, x]
    f1 = f[1, y, west]
    f2 = f[2, south, x]
    f3 = f[3, y, east]
    f4 = f[4, north, x]
    f5 = f[5, south, west]
    f6 = f[6, south, east]
    f7 = f[7, north, east]
    f8 = f[8, north, west]
    density = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8
    u = (f1 - f3 + f5 - f6 - f7 + f8) / density
    v = (f2 - f4 + f5 + f6 - f7 - f8) / density
    square = u * u + v * v
    g[0, y, x] = f0 + omega * (equilibrium(4.0 / 9.0, density, 0.0, square) - f0)
    g[1, y, x] = f1 + omega * (equilibrium(1.0 / 9.0, density, u, square) - f1)
    g[2, y, x] = f2 + omega * (equilibrium(1.0 / 9.0, density, v, square) - f2)
    g[3, y, x] = f3 + omega * (equilibrium(1.0 / 9.0, density, -u, square) - f3)
    g[4, y, x] = f4 + omega * (equilibrium(1.0 / 9.0, density, -v, square) - f4)
    g[5, y, x] = f5 + omega * (equilibrium(1.0 / 36.0, density, u + v, square) - f5)
    g[6, y, x] = f6 + omega * (equilibrium(1.0 / 36.0, density, v - u, square) - f6)
    g[7, y, x] = f7 + omega * (equilibrium(1.0 / 36.0, density, -u - v, square) - f7)
    g[8, y, x] = f8 + omega * (equilibrium(1.0 / 36.0, density, u - v, square) - f8)


def state(height: int, width: int) -> np.ndarray[Any, Any]:
    """Make the populations of a shear flow of density 1, float32: velocity, row, column."""
    u = 0.05 * np.sin(2 * np.pi * np.arange(height) / height)[:, None] * np.ones(width)
    rows = [w * (1 + 3 * c * u + 4.5 * (c * u) ** 2 - 1.5 * u * u) for w, (c, _) in zip(WEIGHTS, VELOCITIES)]
    return np.stack(rows).astype(np.float32)


def expression(f: np.ndarray[Any, Any], omega: float) -> np.ndarray[Any, Any]:
    """The populations after a step, by numpy."""
    pulled = np.stack([np.roll(one, (c, r), (1, 0)) for one, (c, r) in zip(f, VELOCITIES)])
    density = pulled.sum(0)
    u, v = (np.tensordot(axis, pulled, 1) / density for axis in np.array(VELOCITIES, f.dtype).T)
    after = []
    for one, weight, (c, r) in zip(pulled, WEIGHTS, VELOCITIES):
        along = c * u + r * v
        rest = weight * density * (1 + 3 * along + 4.5 * along * along - 1.5 * (u * u + v * v))
        after.append(one + omega * (rest - one))
    return np.stack(after)


def warp() -> tuple[Any, Any]:
    """Give Warp's module, started, and its kernel, of the same text. Raises ImportError where Warp is not installed."""
    import warp as wp

    wp.config.quiet = True
    wp.init()
    places = {**vars(wp), "sn": wp, "__name__": __name__}
    func = wp.func(_of(equilibrium.function, places))
    return wp, wp.kernel(_of(step.function, {**places, "equilibrium": func}))


def _of(function: Any, places: dict[str, Any]) -> Any:
    """The function, with other meanings of its globals."""
    made = FunctionType(function.__code__, places, function.__name__)
    made.__annotations__ = {
        name: eval(each, places) if isinstance(each, str) else each for name, each in function.__annotations__.items()
    }
    return made
