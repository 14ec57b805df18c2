"""Composite values, structs, arrays of several dimensions and atomics, on both devices alike."""

from typing import Any

import numpy as np

import sim_node as sn
from sim_node.errors import KernelError
from sim_node.lang.values.structure import memory_type


@sn.struct
class Body:
    a: int
    v: sn.vec3
    m: sn.mat22
    x: sn.array(dtype=float)


@sn.struct
class Link:
    a: int
    v: sn.vec3
    m: sn.mat22


@sn.func
def pushed(link: Link, k: float):
    link.v.x = k
    return link.v * k


@sn.kernel
def work(
    links: sn.array(dtype=Link), q: sn.array(dtype=sn.quat), t: sn.array(dtype=sn.transform),
    y: sn.array(dtype=sn.vec3), z: sn.array(dtype=float, ndim=2), one: Body, r: sn.array(dtype=sn.mat22),
    counts: sn.array(dtype=int),
):  # fmt: skip
    i, j = sn.tid()
    link = links[i]
    link.a += 2
    links[i].m[0, 1] += 3.0
    links[i].v = pushed(link, 2.0)
    y[i] = link.v + one.v
    z[i, j] = link.m[0, 0] + float(i * 10 + j) + one.m[1, 1] + one.x[i]
    q[i] = q[i] * q[i]
    t[i] = t[i] * t[i]
    r[i] = one.m * links[i].m
    one.x[i] += 1.0
    sn.atomic_add(counts, 0, sn.atomic_max(counts, i, i) + link.a)


def outcome(device: str, dim: tuple[int, int]) -> tuple[str, list[Any]]:
    """What a launch raises, but for the line that launches, and the bytes that it leaves."""
    random = np.random.default_rng(0)
    links = np.zeros(3, memory_type(Link))
    links["a"], links["m"] = [1, 2, 3], random.normal(size=(3, 2, 2))
    q, t, y, r = (random.normal(size=shape).astype(np.float32) for shape in ((3, 4), (3, 7), (3, 3), (3, 2, 2)))
    z, x, counts = np.zeros((3, 2), np.float32), np.arange(3, dtype=np.float32), np.zeros(3, np.int32)
    one = Body(1, (1, 2, 3), sn.mat22(1, 2, 3, 4), sn.array(x, copy=False))
    inputs = [
        sn.array(links, dtype=Link, copy=False), sn.array(q, dtype=sn.quat, copy=False),
        sn.array(t, dtype=sn.transform, copy=False), sn.array(y, dtype=sn.vec3, copy=False), z, one,
        sn.array(r, dtype=sn.mat22, copy=False), counts,
    ]  # fmt: skip
    try:
        sn.launch(work, dim, inputs=inputs, device=device)
        told = ""
    except KernelError as error:
        told = str(error)[: str(error).rindex("launched")]
    return told, [array.tobytes() for array in (links, q, t, y, z, x, r, counts)]


def test_places_of_every_kind() -> None:
    assert outcome("python", (3, 2)) == outcome("cpu", (3, 2))


def test_each_index_is_checked() -> None:
    for dim in ((3, 3), (4, 2)):
        told = outcome("python", dim)
        assert told[0]
        assert told == outcome("cpu", dim)


@sn.struct
class Views:
    flat: sn.array(dtype=float)
    grid: sn.array(dtype=float, ndim=2)
    some: sn.indexedarray(dtype=float)


@sn.kernel
def gathered(grid: sn.array(dtype=float, ndim=2), some: sn.indexedarray(dtype=float), y: sn.array(dtype=float)):
    i = sn.tid()
    views = Views()
    if i > 0:
        views = Views(grid[i], grid[:, ::-1], some=some)
        views.flat = grid[0, ::2]
    y[i] = float(len(views.flat))
    if i > 0:
        y[i] += views.flat[1] + 10.0 * views.grid[i, 0] + 100.0 * views.some[i]
        views.some[i] = -1.0


def test_a_struct_made_in_a_kernel_holds_arrays_of_every_layout_or_none() -> None:
    for device in ("cpu", "python"):
        grid, flat, y = np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(5, dtype=np.float32), np.zeros(3, "f4")
        some = sn.indexedarray1d(sn.array(flat, copy=False), [sn.array([4, 2, 0], dtype=int)])
        sn.launch(gathered, 3, inputs=[grid, some, y], device=device)
        assert y.tolist() == [0, 2 + 2 + 70 + 200, 2 + 2 + 110]
        assert flat.tolist() == [-1, 1, -1, 3, 4]


@sn.struct
class Padded:
    a: sn.int8
    b: sn.float64


@sn.kernel
def swapped(x: sn.array(dtype=Padded), y: sn.array(dtype=Padded)):
    i = sn.tid()
    one = x[i]
    y[i] = Padded(one.a + sn.int8(1), y[i].b + one.b)


def test_structs_with_bytes_between_their_fields() -> None:
    for device in ("cpu", "python"):
        x, y = (np.ones(3, memory_type(Padded)) for _ in "xy")
        sn.launch(swapped, 3, inputs=[x, sn.array(y, dtype=Padded, copy=False)], device=device)
        assert y.tolist() == [(2, 2.0)] * 3
