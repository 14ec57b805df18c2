"""Descriptors of arrays, as src/place.h writes them."""

import pytest

from sim_node.dtypes import LAYOUTS, ArrayType, float32, int32, int64, pointer


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_descriptors(ndim, layout):
    kind = ArrayType(float32, ndim, layout)
    words = [pointer] + [int32] * ndim
    words += [int64] * ndim * (layout != "contiguous") + [pointer] * ndim * (layout == "indexed")
    assert [leaf.scalar for leaf in kind.leaves] == words
    assert [leaf.offset for leaf in kind.leaves][: 1 + ndim] == [0, *range(8, 8 + 4 * ndim, 4)]
    strides = 8 + (4 * ndim + 7) // 8 * 8
    assert kind.size == strides + 8 * ndim * LAYOUTS.index(layout)
    assert [leaf.offset for leaf in kind.leaves][1 + ndim :] == list(range(strides, kind.size, 8))
    assert kind.align == 8
