"""Numbers without a type keep all their digits until they meet one, as in Python."""

import numpy as np
import pytest
from interpreter import run

from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.verifier import verify
from sim_node.errors import BuildTypeError, BuildValueError, UnsupportedError

# d[0] becomes the value, with flag True and with flag False; a[0] is 7
KEPT = [
    ("sn.float64(0.1 if flag else 0.2)", 0.1, 0.2),
    ("0.1 if flag else 0.2", 0.1, 0.2),
    ("d[1] + (0.1 if flag else 0.2)", 0.1, 0.2),
    ("(1 if flag else 2) / 3", 1 / 3, 2 / 3),
    ("-(0.1 if flag else 0.2) * (10 if flag else 1)", -0.1 * 10, -0.2),
    ("(0.1 if a[0] > 9 else 0.3) if flag else 0.2", 0.3, 0.2),
    ("min(0.1, 0.2) if flag else max(0.1 if a[0] % 7 == 0 else 0.7, 0.3)", 0.1, 0.3),
    ("(0.1 if a[0] // 7 == 1 else 0.3) if flag else (0.4 if a[1] % 2 == 1 else 0.6)", 0.1, 0.6),
    ("max(1, 0.1)", 1.0, 1.0),
    ("sn.min(0.1, 0.7, 0.3)", 0.1, 0.1),
    ("sn.max(0.1, 0.2 if flag else 1e-3)", 0.2, 0.1),
    ("abs(-0.1) + sn.abs(-0.2)", 0.1 + 0.2, 0.1 + 0.2),
    ("sn.sqrt(0.1)", np.sqrt(0.1), np.sqrt(0.1)),
    ("sn.float64(3 if flag else 9007199254740992)", 3.0, 2.0**53),
    ("0.1 if (True if flag else False) else 0.2", 0.1, 0.2),
    ("0.1 if (1 if flag else 2) == 1 else 0.2", 0.1, 0.2),
]


@pytest.mark.parametrize(("expression", "yes", "no"), KEPT)
def test_no_digit_is_lost(kernel, expression, yes, no):
    module = verify(lower(kernel(f"d[0] = {expression}")))
    for flag, wanted in ((True, yes), (False, no)):
        d = np.zeros(2)
        run(module, [np.zeros(1, np.float32), d, np.array([7, 0], np.int32), np.zeros((1, 3), np.float32), 0, 0, flag])
        assert d[0] == wanted


def test_a_choice_fits_the_type_that_it_meets(kernel):
    module = verify(lower(kernel("a[1 if flag else 0] = 5 if flag else -5\nn <<= 1 if flag else 2\na[2] = n")))
    for flag, wanted in ((True, [0, 5, 6]), (False, [-5, 0, 12])):
        a = np.zeros(3, np.int32)
        none = np.zeros(1, np.float32)
        run(module, [none, np.zeros(1), a, np.zeros((1, 3), np.float32), 3, 0, flag])
        assert a.tolist() == wanted


CHAIN = " + ".join(["(0.1 if flag else 0.2)"] * 7)
REFUSED = [
    ("a[0] = ¦0 if flag else 2147483648", BuildTypeError, "2147483648 cannot be i32", "sn.int64"),
    ("a[0] = ¦0 if flag else 0.5", BuildTypeError, "0.5 cannot be i32", "convert"),
    ("a[¦0 if flag else -1] = 0", UnsupportedError, "a negative index that only the run chooses", "an if"),
    ("a[¦0 if flag else 1.5] = 0", BuildTypeError, "this is the number 0 or the number 1.5", "int("),
    ("a[0] = n << (¦1 if flag else 32)", BuildValueError, "a shift by 32", ""),
    ("d[0] = ¦1 / (0 if flag else 1)", BuildValueError, "division by zero", ""),
    (f"d[0] = ¦{CHAIN}", UnsupportedError, "has more than 64 possible results that have no type", "float(…)"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "family", "what", "remedy"), REFUSED)
def test_every_outcome_must_do(refusal, body, family, what, remedy):
    refusal(body, family, what, remedy)
