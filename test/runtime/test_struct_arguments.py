"""Structs as arguments of launches: those without fields, and those that keep indexed arrays."""

import numpy as np
import pytest
from devices import EVERY

import sim_node as sn
from sim_node.errors import LaunchError


@sn.struct
class Empty:
    pass


@sn.struct
class Nest:
    a: Empty
    b: Empty
    z: int


@sn.struct
class Chosen:
    values: sn.indexedarray[float]


@sn.struct
class Outer:
    inner: Chosen


def test_a_struct_without_fields_has_one_byte():
    @sn.kernel
    def read(nest: Nest, empty: Empty, out: sn.array[int]):
        other = Nest()
        nest.a = empty
        out[0] = nest.z + other.z

    assert (Empty.size, Nest.size) == (1, 8)
    assert np.dtype(Nest.numpy_dtype()).itemsize == 8
    out = np.zeros(1, np.int32)
    sn.launch(read, 1, inputs=[Nest(z=42), Empty()], outputs=[out])
    assert out[0] == 42


def test_indexed_arrays_in_structs_in_structs_and_in_arrays_of_them():
    @sn.kernel
    def read(one: Outer, many: sn.array[Chosen], out: sn.array[float]):
        i = sn.tid()
        out[i] = one.inner.values[i] + 10.0 * many[0].values[i]
        one.inner.values[i] = -1.0

    values = sn.array(np.arange(10, dtype=np.float32))
    chosen = Chosen(sn.indexedarray1d(values, [sn.array([1, 3, 5], dtype=int)]))
    out = np.zeros(3, np.float32)
    sn.launch(read, 3, inputs=[Outer(chosen), sn.array([chosen], dtype=Chosen)], outputs=[out])
    assert out.tolist() == [11, 33, 55]
    assert values.list() == [0, -1, 2, -1, 4, -1, 6, 7, 8, 9]
    chosen.values = sn.array(np.arange(3, dtype=np.float32))  # whatever lies elsewhere has no list
    sn.launch(read, 3, inputs=[Outer(chosen), sn.array([chosen], dtype=Chosen)], outputs=[out])
    assert out.tolist() == [0, 11, 22]


@EVERY
def test_a_struct_refers_to_arrays_of_the_device_that_it_is_launched_on(device):
    @sn.struct
    class Named:
        values: sn.array[float]
        at: int

    @sn.kernel
    def read(named: Named, out: sn.array[float]):
        out[0] = named.values[named.at]

    out = sn.zeros(1, device=device)
    held = sn.launch(read, 1, [Named()], [out], device=device, record_cmd=True)
    held.set_param_by_name("named", Named(sn.array([1.0, 2.0], device=device), 1))
    held.launch()
    assert out.list() == [2]
    with pytest.raises(LaunchError, match=r"'named', field 'at'.* expects i32"):
        held.set_param_by_name("named", (sn.array([1.0], device=device), 0.5))
