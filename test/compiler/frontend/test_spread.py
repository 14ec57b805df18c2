"""What stands behind ``*``."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.errors import BuildTypeError, BuildValueError, KernelError


@sn.kernel
def spread(a: sn.array[int], p: sn.array[sn.vec3], out: sn.array[int], far: int):
    both = (*a[:2], far, *a[1:6:2])
    out[0] = both[1] * 100 + both[3] * 10 + both[5]
    out[1] = sn.max(*a[2:4], a[far])
    v = sn.vec4(*p[1], 1.0)
    out[2] = int(v[0] + v[3])
    out[3] = sn.vec3i(*a[3:6])[2]


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_slices_of_arrays_are_their_elements(device):
    a, p, out = np.arange(1, 7, dtype=np.int32), np.ones((2, 3), np.float32), np.zeros(4, np.int32)
    sn.launch(spread, 1, [a, p, out, 1], device=device)
    assert out.tolist() == [226, 4, 2, 6]
    with pytest.raises(KernelError, match="index 5 is outside array 'a'"):
        sn.launch(spread, 1, [a[:5].copy(), p, out, 1], device=device)


@pytest.mark.parametrize(
    ("value", "error", "told"),
    [
        ("*a[:n]", BuildValueError, "Slice component must be a compile-time constant behind '*', and 'n' is i32"),
        ("*a[0:]", BuildValueError, "'*a[0:]' requires explicit upper bound"),
        ("*a[:-3]", BuildValueError, "a bound in '*a[:-3]' cannot be negative for arrays"),
        ("*a[5:2:-1]", BuildValueError, "step cannot be negative in '*a[5:2:-1]'"),
        ("*a[0:2:0]", BuildValueError, "Slice step cannot be zero"),
        ("*a", BuildTypeError, "slices of arrays, and 'a' is an array of i32"),
    ],
)
def test_what_is_refused(written, value, error, told):
    made = written(f"@sn.kernel\ndef k(a: sn.array[int], n: int):\n    v = sn.vec3i({value})\n")["k"]
    with pytest.raises(error) as caught:
        sn.launch(made, 1, [np.zeros(4, np.int32), 3])
    assert told in str(caught.value)
