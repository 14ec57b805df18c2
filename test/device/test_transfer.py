import numpy as np
import pytest
from devices import GPU


@pytest.mark.parametrize("device", ["simulated", GPU], indirect=True)
def test_rows_are_apart_on_the_gpu_and_close_on_the_host(device):
    table = np.arange(5000, dtype=np.int32).reshape(10, 500)
    memory = device.holding(table.tobytes())
    column = np.zeros((10, 2), np.int32)
    device.read(column.ctypes.data, memory.address + 4 * 7, 8, rows=10, pitch=2000)
    assert np.array_equal(column, table[:, 7:9])
    column *= -1
    device.write(memory.address + 4 * 100, column.ctypes.data, 8, rows=10, pitch=2000)
    table[:, 100:102] = column
    found = np.zeros_like(table)
    device.read(found.ctypes.data, memory.address, found.nbytes)
    assert np.array_equal(found, table)
