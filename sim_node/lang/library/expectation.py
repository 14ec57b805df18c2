"""Checks of kernels by themselves, written in the kernel language: a thread whose check fails stops with an error."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import Matrix
from sim_node.lang.builtins import abs_
from sim_node.lang.func import func
from sim_node.lang.kinds import Scalar

_MATRIX = Matrix(Any, Any, Any)


@func
def expect_eq(actual: Any, expected: Any) -> None:
    """Stop the thread unless both are equal, of whatever type that can be compared."""
    assert actual == expected, "expect_eq: the values differ"


@func
def expect_neq(actual: Any, expected: Any) -> None:
    """Stop the thread if both are equal, of whatever type that can be compared."""
    assert actual != expected, "expect_neq: the values are equal"


@func
def near(actual: Any, expected: Any, tolerance: Any) -> None:
    """Stop the thread unless two numbers differ by the tolerance at most."""
    close = abs_(actual - expected) <= tolerance
    wanted = actual if close else expected  # so the error tells both, and no branch parts the threads
    assert actual == wanted, "expect_near: the values differ by more than the tolerance"


@func
def expect_near(actual: Scalar, expected: Scalar, tolerance: Scalar = 1.0e-6) -> None:
    """Stop the thread unless two numbers differ by the tolerance at most."""
    near(actual, expected, tolerance)


@func
def expect_near(actual: Any, expected: Any, tolerance: Scalar = 1.0e-6) -> None:
    """Stop the thread unless the components of two vectors or their kin differ by the tolerance at most, each."""
    for i in range(len(actual)):
        near(actual[i], expected[i], tolerance)


@func
def expect_near(actual: _MATRIX, expected: _MATRIX, tolerance: Scalar = 1.0e-6) -> None:
    """Stop the thread unless the elements of two matrices differ by the tolerance at most, each."""
    for i in range(len(actual)):
        for j in range(len(actual[0])):
            near(actual[i, j], expected[i, j], tolerance)
