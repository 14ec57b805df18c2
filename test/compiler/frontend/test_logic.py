"""Truth, short-circuit and ternaries."""

import numpy as np
import pytest
from interpreter import Stopped, run

from sim_node.compiler.frontend import lower
from sim_node.errors import BuildTypeError


def outcome(kernel, body, n, flag=True, s=0.5):
    a = np.array([0, 10, 20], np.int32)
    run(lower(kernel(body)), [np.zeros(3, np.float32), np.zeros(3), a, np.zeros((3, 3), np.float32), n, s, flag])
    return int(a[0])


SAFE = ["n < 3 and a[n] == 10", "not (n >= 3 or a[n] != 10)", "n < 3 and (a[n] == 10 and a[n + 1] == 20)",
        "0 <= n < 3 and a[n] == 10", "n != 0 and 10 // n == 10", "(a[n] == 10 if n < 3 else False)"]  # fmt: skip


@pytest.mark.parametrize("expression", SAFE)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_the_right_side_is_left_alone(kernel, expression, n):
    assert outcome(kernel, f"a[0] = 1 if {expression} else 0", n) == int(n == 1)


def test_the_right_side_is_evaluated_where_python_does(kernel):
    with pytest.raises(Stopped):
        outcome(kernel, "a[0] = 1 if n == 3 and a[n] == 10 else 0", 3)


def test_each_operand_of_a_chain_once(kernel, written):
    names = written("@sn.func\ndef up(a: array(int)):\n    a[1] += 1\n    return a[1]\n")
    body = "b = 9 < up(a) <= 11\na[0] = a[1] if b else -1"
    a = np.array([0, 10, 20], np.int32)
    run(lower(kernel(body, up=names["up"])),
        [np.zeros(3, np.float32), np.zeros(3), a, np.zeros((3, 3), np.float32), 0, 0.0, True])  # fmt: skip
    assert a[0] == 11


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("flag and True", lambda flag: flag),
        ("False and a[9] > 0", lambda flag: False),
        ("flag or True", lambda flag: True),
        ("True or a[9] > 0", lambda flag: True),
        ("not flag", lambda flag: not flag),
        ("not True or flag", lambda flag: flag),
        ("flag and 1 < 2 < 3", lambda flag: flag),
        ("flag == True", lambda flag: flag),
        ("flag != (n > 5)", lambda flag: flag),
        ("flag & (n < 5) | False", lambda flag: flag),
        ("flag ^ True", lambda flag: not flag),
    ],
)
def test_bools(kernel, expression, wanted, flag):
    assert outcome(kernel, f"a[0] = int({expression})", 0, flag) == int(wanted(flag))


@pytest.mark.parametrize(
    ("body", "family", "what", "remedy"),
    [
        ("if ¦n:\n    pass", BuildTypeError, "a condition is a bool, and 'n' is i32", "n != 0"),
        ("if ¦1:\n    pass", BuildTypeError, "and '1' is the number 1", "1 != 0"),
        ("if ¦x:\n    pass", BuildTypeError, "and 'x' is an array of f32", "len(x) > 0"),
        ("if ¦p[0]:\n    pass", BuildTypeError, "and 'p[0]' is vec3f", "compare it"),
        ("flag = not ¦n", BuildTypeError, "'n' is i32", "n != 0"),
        ("flag = flag and ¦s", BuildTypeError, "'s' is f32", "s != 0"),
        ("x[0] = s if ¦n else s", BuildTypeError, "'n' is i32", "n != 0"),
        ("x[0] = ¦n if flag else s", BuildTypeError, "the ternary mixes i32 and f32", "sn.float32(n)"),
    ],
)
def test_refused(refusal, body, family, what, remedy):
    refusal(body, family, what, remedy)


def test_literals_of_a_ternary_adapt(kernel):
    x, d = np.zeros(3, np.float32), np.zeros(3)
    body = "d[0] = 0.1 if flag else d[1]\nd[1] = d[0] if a[0] > 5 else 0.2"
    run(lower(kernel(body)), [x, d, np.zeros(1, np.int32), np.zeros((1, 3), np.float32), 0, 0.0, True])
    assert list(d) == [0.1, 0.2, 0.0]
