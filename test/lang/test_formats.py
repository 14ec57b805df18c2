"""Formats write what C's printf does."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.lang.formats import formatted


@pytest.mark.parametrize(
    ("text", "values", "wanted"),
    [
        ("%d%% %5.2f|%-4d|%+i", (3, 2.5, 7, 1), "3%  2.50|7   |+1"),
        ("%x %u %X", (np.int8(-1), np.int32(-1), -1), "ff 4294967295 FFFFFFFF"),
        ("%lld %hhu %g %e", (2**40, np.uint8(255), 1e-7, 0.5), "1099511627776 255 1e-07 5.000000e-01"),
        ("%s %c %g %g", (True, 65, float("nan"), float("inf")), "True A nan inf"),
    ],
)
def test_conversions(text, values, wanted):
    assert formatted(text, values) == wanted


@pytest.mark.parametrize(("text", "values"), [("%d", ()), ("", (1,)), ("%y", (1,)), ("%d", ("a",))])
def test_what_does_not_fit_is_refused(text, values):
    with pytest.raises((TypeError, ValueError)):
        formatted(text, values)


def test_printf_in_plain_python(capsys):
    sn.printf("%d\n", np.int32(4))
    sn.print(1, 2)
    assert capsys.readouterr().out == "4\n1 2\n"
