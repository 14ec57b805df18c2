import pytest

from sim_node import dtypes
from sim_node.runtime.cell import Cell


def test_a_cell_has_dtype_and_shape():
    cell = Cell(dtypes.vec3, 4)
    assert (cell.dtype, cell.shape) == (dtypes.vec3, (4,))
    assert Cell(float, (2, 3)).dtype == dtypes.float32


def test_what_no_array_has_is_refused():
    with pytest.raises(TypeError, match="not a dtype"):
        Cell("vec9", 4)
    with pytest.raises(ValueError, match="must be non-negative"):
        Cell(float, -1)
