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


TRUTHS = [
    "n", "not n", "n and a[n]", "s - 0.5 or n", "not (n or s - 0.5)", "s / (s - s) and n", "-0.0 * s", "n & 1", "()",
    "0.0 or n", "3 and n", "(n, n)", "n if n else 0.0 * s", "n in (1, 3)", "bool(n) and not n - 1",
]  # fmt: skip


@pytest.mark.parametrize("expression", TRUTHS)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_truth_is_pythons(kernel, expression, n):
    body = f"a[0] = 0\nif {expression}:\n    a[0] = 1\nwhile {expression}:\n    a[0] += 2\n    break\n"
    names = {"n": np.int32(n), "s": np.float32(0.5), "a": np.array([0, 10, 20])}
    if "n if n" in expression:
        expression, body = "n", body.replace("n if n else 0.0 * s", "(n if n else 0)")
    with np.errstate(all="ignore"):
        wanted = bool(eval(expression, names))
    assert outcome(kernel, body + f"a[0] += 4 if {expression} else 0\nassert True or {expression}", n) == 7 * wanted


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
        ("if ¦p[0]:\n    pass", BuildTypeError, "'p[0]' is vec3f, which is neither", "compare it"),
        ("if not ¦sn:\n    pass", BuildTypeError, "'sn' is a module, which is neither", "compare it"),
        ("flag = flag and ¦s", BuildTypeError, "'and' and 'or' is a bool here, and 's' is f32", "bool(s)"),
        ("a[0] = ¦n or 3", BuildTypeError, "'and' and 'or' is a bool here, and 'n' is i32", "bool(n)"),
        ("a[0] = flag or ¦3", BuildTypeError, "and '3' is the number 3", "compare it"),
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


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_a_choice_of_literals_beside_a_value_is_made_on_its_side(kernel, n):
    want = (0 if n == 3 else 3) if n >= 2 else 10 // (n + 1)
    assert outcome(kernel, "a[0] = (0 if n == 3 else 3) if n >= 2 else a[1] // (n + 1)", n) == want
    assert outcome(kernel, "a[0] = a[1] // (n + 1) if n < 2 else (0 if n == 3 else 3)", n) == want
