import pytest

from sim_node.errors import KernelError
from sim_node.runtime.launch import launch


@pytest.mark.parametrize(
    ("site", "what", "code"),
    [
        (0, "index 12 is outside array 'x' of length 10", "SN501"),
        (1, "integer division by zero in a // b", "SN502"),
        (2, "integer overflow in a // -1", "SN503"),
        (3, "mass > 0", "SN504"),
        (4, "index 12 is outside dimension 2 of array 'x', whose extent is 10", "SN501"),
    ],
)
def test_each_kind_of_site_says_what_happened(kernels, site, what, code):
    with pytest.raises(KernelError) as caught:
        launch(kernels.stop, 8, [site, 5])
    assert str(caught.value).splitlines()[:3] == [
        f"kernels.py:7:5: {what} in kernel 'stop', thread 5 [{code}]",
        "    y[i] = x[i]",
        "    ^",
    ]


def test_threads_that_do_not_stop_raise_nothing(kernels):
    launch(kernels.stop, 5, [0, 5])
