"""Integers of every width: what wraps is compared, widened and divided as what it wrapped to; loops end as Python's."""

from __future__ import annotations

import numpy as np
import pytest
from devices import COMPILED, on

import sim_node as sn

WIDTHS = [sn.int8, sn.uint8, sn.int16, sn.uint16, sn.int32, sn.uint32, sn.int64, sn.uint64]
FACTOR = 7


@sn.func
def absolute(a, b):
    return abs(a)


@sn.func
def negative(a, b):
    return -a


@sn.func
def total(a, b):
    return a + b


@sn.func
def difference(a, b):
    return a - b


@sn.func
def product(a, b):
    return a * b


@sn.func
def quotient(a, b):
    return a // (b & 63 | 1)


@sn.func
def remainder(a, b):
    return a % (b & 63 | 1)


@sn.func
def shifted(a, b):
    return a << 3


@sn.func
def inverted(a, b):
    return ~a


@sn.func
def least(a, b):
    return min(-a, b)


@sn.func
def greatest(a, b):
    return max(a - b, b)


OPERATIONS = [absolute, negative, total, difference, product, quotient, remainder, shifted, inverted, least, greatest]


def made(operation, width):
    """A kernel that uses the result of an operation in each way that sees more than the bits it is stored in."""
    arrays = sn.array(dtype=width)

    @sn.kernel
    def uses(x: arrays, y: arrays, wide: sn.array(dtype=sn.int64), more: sn.array(dtype=bool), part: arrays):
        i = sn.tid()
        result = operation(x[i], y[i])
        wide[i] = sn.int64(result)
        more[i] = result > 10
        part[i] = result // FACTOR

    return uses


def wrapped(number, kind):
    """An integer as the type holds it."""
    number &= 2**kind.bits - 1
    return number - 2**kind.bits if kind.min < 0 and number > kind.max else number


def python(operation, a, b, kind):
    """The operation by Python's numbers, wrapped after each."""
    by_name = {
        "absolute": lambda: abs(a),
        "negative": lambda: -a,
        "total": lambda: a + b,
        "difference": lambda: a - b,
        "product": lambda: a * b,
        "quotient": lambda: a // (b & 63 | 1),
        "remainder": lambda: a % (b & 63 | 1),
        "shifted": lambda: a << 3,
        "inverted": lambda: ~a,
        "least": lambda: min(wrapped(-a, kind), b),
        "greatest": lambda: max(wrapped(a - b, kind), b),
    }
    return wrapped(by_name[operation](), kind)


@COMPILED
@pytest.mark.parametrize("width", WIDTHS, ids=lambda width: width.__name__)
def test_a_result_is_used_as_what_it_wrapped_to(width, device):
    kind = np.iinfo(width.__name__)
    edges = [kind.min, kind.min + 1, kind.min + 2, -2, -1, 0, 1, 2, 3, 11, kind.max // 2, kind.max - 1, kind.max]
    edges = [number for number in edges if number >= kind.min]
    x, y = (np.array(part, kind.dtype) for part in zip(*((a, b) for a in edges for b in edges), strict=True))
    for operation in OPERATIONS:
        outputs = [on(device, np.zeros(x.size, dtype)) for dtype in (np.int64, bool, kind.dtype)]
        sn.launch(made(operation, width), x.size, [on(device, x), on(device, y)], outputs, device=device)
        wide, more, part = (np.array(each) for each in outputs)
        for at, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
            result = python(operation.name, a, b, kind)
            wanted = wrapped(result, np.iinfo(np.int64)), result > 10, result // FACTOR
            got = wide[at].item(), more[at].item(), part[at].item()
            assert got == wanted, (operation.name, a, b)


def counting(width, step):
    """A kernel that goes through ranges whose step the build knows."""

    @sn.kernel
    def count(start: sn.array(dtype=width), stop: sn.array(dtype=width), out: sn.array(dtype=sn.uint8)):
        i = sn.tid()
        mixed = sn.uint8(i + 1)
        for number in range(start[i], stop[i], step):
            mixed = mixed * sn.uint8(10) + sn.uint8(number)
        out[i] = mixed

    return count


@COMPILED
@pytest.mark.parametrize("step", [1, 2, 3, 7, -1, -2, -3])
@pytest.mark.parametrize("width", [sn.int32, sn.int64], ids=lambda width: width.__name__)
def test_a_range_ends_as_in_python(width, step, device):
    ends = range(-9, 10)
    start, stop = (np.array(part, width.__name__) for part in zip(*((a, b) for a in ends for b in ends), strict=True))
    out = on(device, np.zeros(start.size, np.uint8))
    sn.launch(counting(width, step), start.size, [on(device, start), on(device, stop), out], device=device)
    for at, (a, b) in enumerate(zip(start.tolist(), stop.tolist(), strict=True)):
        mixed = at + 1
        for number in range(a, b, step):
            mixed = mixed * 10 + number
        assert np.array(out)[at] == mixed % 256, (a, b, step)


@sn.kernel
def descending(x: sn.array(dtype=sn.uint8), start: sn.int32):
    i = sn.tid()
    now = x[i]
    for _ in range(start & 3, -2, -2):
        now = now * sn.uint8(10)
    x[i] = now * sn.uint8(3)


@sn.kernel
def descending_by_hand(x: sn.array(dtype=sn.uint8), start: sn.int32):
    i = sn.tid()
    now, left = x[i], sn.uint32(start & 3) + sn.uint32(1)
    while True:
        now = now * sn.uint8(10)
        left -= sn.uint32(2)
        if not left < sn.uint32(0xFFFF_FFFD):
            break
    x[i] = now * sn.uint8(3)


@COMPILED
@pytest.mark.parametrize("start", range(4))
@pytest.mark.parametrize("kernel", [descending, descending_by_hand], ids=lambda kernel: kernel.name)
def test_a_loop_whose_count_passes_zero_ends(kernel, start, device):
    x = on(device, np.full(6, 101, np.uint8))
    sn.launch(kernel, 6, [x, start], device=device)
    assert np.array(x).tolist() == [101 * 10 ** len(range(start, -2, -2)) * 3 % 256] * 6
