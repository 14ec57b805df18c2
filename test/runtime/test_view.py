import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node.runtime.view import reshaped, select


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.data())
def test_a_view_is_where_numpy_s_is(shape, data):
    """Compared where numpy has elements, and steps between them: it leaves the place of nothing open."""
    values = np.zeros(shape, "i4")
    key = tuple(data.draw(st.slices(n) | st.integers(-n, n - 1) if n else st.slices(n)) for n in shape)
    view, part = select(key, shape, values.strides), values[key]
    assert view.shape == np.shape(part)
    assert not view.is_indexed
    if isinstance(part, np.ndarray) and part.size:
        taken = [
            (ours, numpys) for ours, numpys, n in zip(view.strides, part.strides, part.shape, strict=True) if n > 1
        ]
        assert all(ours == numpys for ours, numpys in taken)
        assert view.offset == part.ctypes.data - values.ctypes.data
    if part.size == 0:
        assert view.offset == 0


def test_lists_keep_their_dimension():
    view = select(([0, 1], slice(1, None)), (3, 4), (16, 4))
    assert (view.offset, view.shape, view.strides) == (4, (3, 3), (16, 4))
    assert view.lists == ([0, 1], None)
    assert view.is_indexed


@pytest.mark.parametrize(
    ("shape", "size", "found"),
    [(6, 6, (6,)), ((2, -1), 6, (2, 3)), (-1, 0, (0,)), ((0, 3), 0, (0, 3)), ((-1,), 4, (4,))],
)
def test_a_shape_is_completed(shape, size, found):
    assert reshaped(shape, size) == found


@pytest.mark.parametrize(("shape", "size"), [((0, -1), 0), ((-1, -1), 4), ((4, -1), 6), (5, 6), ((-2, -3), 6)])
def test_a_shape_of_other_elements_is_refused(shape, size):
    with pytest.raises(ValueError, match="do not make an array"):
        reshaped(shape, size)


def test_a_step_that_is_never_taken_may_be_huge():
    assert select(slice(None, None, 2**62), (4,), (8,)).shape == (1,)
    assert select(slice(0, 0, -(2**62)), (4,), (8,)).shape == (0,)
