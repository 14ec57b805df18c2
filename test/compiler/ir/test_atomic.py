"""Every atomic operation of the table has a row in the back end for each kind of scalar that it takes."""

import pytest

from sim_node.compiler.backend import rows
from sim_node.compiler.ir.atomic import ATOMICS
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.verifier import VerifyError, verify
from sim_node.dtypes import SCALARS


@pytest.mark.parametrize("name", ATOMICS)
def test_rows(name):
    for kind in SCALARS:
        if ATOMICS[name].takes(kind):
            assert "atomicrmw" in rows.atomic(name, kind) or "cmpxchg" in rows.atomic(name, kind)


@pytest.mark.parametrize(
    "value", ["i32 %p, %x {@twice}", "i32 %p {@add}", "f32 %p, %f {@and}", "i32 %p {@cas}", "i16 %p, %s {@add}"]
)
def test_what_is_no_change(value):
    head = "kernel @k(array<i32> %a, i32 %x, f32 %f, i16 %s) {\nb0:\n  %p = extract ptr %a {0}\n"
    text = f"{head}  %o = atomic {value}\n  return\n}}"
    with pytest.raises(VerifyError):
        verify(parse(text))
