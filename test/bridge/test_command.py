"""A command fits its input, or the error says what the input takes."""

import numpy as np
import pytest

from sim_node.bridge.command import fill
from sim_node.errors import RingError


def test_what_fits_is_copied():
    buffer = np.zeros((2, 3), np.float32)
    fill(buffer, "force", [1, 2.5, 3])
    assert buffer.tolist() == [[1, 2.5, 3]] * 2


@pytest.mark.parametrize(
    ("command", "told"),
    [(np.zeros(2, np.float32), r"float32 of shape \(2,\)"), (1j, r"complex128 of shape \(\)")],
)
def test_what_does_not_fit_is_refused(command, told):
    buffer = np.ones(3, np.float32)
    with pytest.raises(RingError, match=rf"input 'force' takes float32 of shape \(3,\), not {told}"):
        fill(buffer, "force", command)
    assert buffer.tolist() == [1, 1, 1]
