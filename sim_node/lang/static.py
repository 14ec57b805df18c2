"""Values that are known when a kernel is built."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def static(value: T) -> T:
    """Evaluate an expression when the kernel is built, in the scope of the function that it stands in.

    It sees what that function captures, and those of its variables that the build knows, such as the counter of an
    unrolled loop; it may call any Python. In plain Python it is the value.
    """
    return value
