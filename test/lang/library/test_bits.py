"""Bits are counted as Python counts them."""

import numpy as np
import pytest

import sim_node as sn


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_bit_count(dtype):
    dtype = np.dtype(dtype)
    bits = dtype.itemsize * 8
    patterns = [0, 1, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1, *(1 << bit for bit in range(bits))]
    patterns += [int(n) for n in np.random.default_rng(4).integers(0, 2**bits - 1, 200, np.uint64)]
    values = np.array(patterns, f"u{bits // 8}").view(dtype)
    element = sn.dtypes.element(dtype)

    @sn.kernel
    def k(x: sn.array[element], out: sn.array[int]):
        i = sn.tid()
        out[i] = sn.bit_count(x[i])

    out = np.zeros(len(values), np.int32)
    sn.launch(k, len(out), inputs=[values], outputs=[out])
    np.testing.assert_array_equal(out, [bin(pattern).count("1") for pattern in patterns])
    with np.errstate(over="ignore"):
        assert [sn.bit_count(value) for value in values] == out.tolist()
