"""Equal fingerprints mean equal modules: whatever changes a module changes its fingerprint, or takes it away."""

from __future__ import annotations

import itertools
import linecache
import sys
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_node.compiler.frontend import lower
from sim_node.compiler.frontend.fingerprint import fingerprint
from sim_node.compiler.ir.digest import digest
from sim_node.compiler.passes.inline import inline
from sim_node.errors import BuildError

_HEAD = """
import enum
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

import sim_node as sn
"""
_numbers = itertools.count()


def written(text: str, **names: Any) -> dict[str, Any]:
    """Run a module of this text, which the compiler can read, and give its names."""
    file = f"<fingerprint {next(_numbers)}>"
    text = _HEAD + text
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = sys.modules["written"] = ModuleType("written")
    module.__dict__.update(names)
    exec(compile(text, file, "exec"), module.__dict__)
    return module.__dict__


def key(kernel: Any, layouts: Any = None) -> str | None:
    found = fingerprint(kernel, layouts)
    return None if found is None else found.key


def identity(kernel: Any) -> str:
    return digest(inline(lower(kernel)))


_ONE = """
@sn.kernel
def k(x: sn.array(dtype={type}), n: sn.int32):
    i = sn.tid()
    x[i] = {expression}
"""

# Of each: text of a module, and two values of what stands for {0} in it, which make different modules.
CASES = {
    "global": ("G = {0}" + _ONE.format(type="float", expression="x[i] * G"), "2.0", "3.0"),
    "global type": ("G = {0}" + _ONE.format(type="float", expression="x[i] * float(G)"), "2", "np.float64(2.1)"),
    "zero's sign": ("G = {0}" + _ONE.format(type="float", expression="x[i] * G"), "0.0", "-0.0"),
    "numpy scalar": ("G = np.float32({0})" + _ONE.format(type="float", expression="x[i] * G"), "2", "3"),
    "numpy vector": ("G = np.array([1.0, {0}])" + _ONE.format(type="sn.float64", expression="x[i] * G[1]"), "2", "3"),
    "vector": ("G = sn.vec3(0.0, {0}, 0.0)" + _ONE.format(type="float", expression="x[i] * G[1]"), "2.0", "3.0"),
    "tuple": ("G = (1.0, ({0}, 2.0))" + _ONE.format(type="float", expression="x[i] * G[1][0]"), "2.0", "3.0"),
    "namespace": ("G = SimpleNamespace(a={0})" + _ONE.format(type="float", expression="x[i] * G.a"), "2.0", "3.0"),
    "class": ("class G:\n    a = {0}\n" + _ONE.format(type="float", expression="x[i] * G.a"), "2.0", "3.0"),
    "nested class": (
        "class G:\n    class H:\n        a = {0}\n" + _ONE.format(type="float", expression="x[i] * G.H.a"), "2.0", "3.0"
    ),
    "property": (
        "class C:\n    @property\n    def a(self):\n        return {0}\nG = C()\n"
        + _ONE.format(type="float", expression="x[i] * G.a"), "2.0", "3.0",
    ),
    "function's attribute": (
        "def g(): pass\ng.a = {0}\n" + _ONE.format(type="float", expression="x[i] * g.a"), "2.0", "3.0"
    ),
    "enum": ("class G(enum.IntEnum):\n    A = {0}\n" + _ONE.format(type="int", expression="x[i] + G.A"), "2", "3"),
    "enum value": (
        "class G(enum.Enum):\n    A = {0}\n" + _ONE.format(type="int", expression="x[i] + G.A.value"), "2", "3"
    ),
    "dataclass": (
        "@dataclass\nclass D:\n    a: float\nG = D({0})\n" + _ONE.format(type="float", expression="x[i] * G.a"),
        "2.0", "3.0",
    ),
    "fields' order": (
        "@dataclass\nclass D:\n    {0}: float\n    {1}: float\nG = D(2.0, 3.0)\n"
        + _ONE.format(type="float", expression="x[i] * G.a"), ("a", "b"), ("b", "a"),
    ),
    "module": ("G = SimpleNamespace(m=np)\nG.m = {0}\n" + _ONE.format(type="float", expression="x[i] * G.m.pi"),
               "np", "SimpleNamespace(pi=3.0)"),
    "func": ("@sn.func\ndef f(a: float):\n    return a * {0}\n" + _ONE.format(type="float", expression="f(x[i])"),
             "2.0", "3.0"),
    "func of a func": (
        "G = {0}\n@sn.func\ndef g(a: float):\n    return a * G\n@sn.func\ndef f(a: float):\n    return g(a)\n"
        + _ONE.format(type="float", expression="f(x[i])"), "2.0", "3.0",
    ),
    "func's default": ("@sn.func\ndef f(a: float, b: float = {0}):\n    return a * b\n"
                       + _ONE.format(type="float", expression="f(x[i])"), "2.0", "3.0"),
    "func's default by name": ("G = {0}\n@sn.func\ndef f(a: float, b: float = G):\n    return a * b\n"
                               + _ONE.format(type="float", expression="f(x[i])"), "2.0", "3.0"),
    "func's annotation": ("T = {0}\n@sn.func\ndef f(a: T):\n    return a * a\n"
                          + _ONE.format(type="float", expression="float(f(T(x[i])))"), "sn.float32", "sn.float64"),
    "overload": (
        "@sn.func\ndef f(a: {0}):\n    return 2.0\n@sn.func\ndef f(a: sn.float64):\n    return 3.0\n"
        + _ONE.format(type="float", expression="f(x[i]) if n > 0 else 1.0"), "sn.float32", "float | None",
    ),
    "one of the overloads": (
        "@sn.func\ndef f(a: int):\n    return {0}\n@sn.func\ndef f(a: float):\n    return 3.0\n"
        + _ONE.format(type="float", expression="f(n)"), "2.0", "4.0",
    ),
    "alias of a func": (
        "@sn.func\ndef f(a: float):\n    return a\n@sn.func\ndef g(a: float):\n    return a + a\nh = {0}\n"
        + _ONE.format(type="float", expression="h(x[i])"), "f", "g",
    ),
    "function of the library": ("h = {0}" + _ONE.format(type="float", expression="h(x[i])"), "sn.sin", "sn.cos"),
    "annotation": ("T = {0}" + _ONE.format(type="T", expression="x[i] * x[i]"), "sn.float32", "sn.float64"),
    "annotation as text": ("T = {0}" + _ONE.format(type='"T"', expression="x[i] * x[i]"), "sn.float32", "sn.float64"),
    "annotation in the body": (
        "T = {0}" + _ONE.format(type="sn.float64", expression="0.0") + "    y: T = T(x[i])\n    x[i] = sn.float64(y)\n",
        "sn.float32", "sn.float64",
    ),
    "struct": (
        "@sn.struct\nclass S:\n    a: float\n    b: {0}\n" + _ONE.format(type="S", expression="x[i]"),
        "float", "sn.float64",
    ),
    "struct's fields": (
        "@sn.struct\nclass S:\n    {0}: float\n    {1}: float\n@sn.kernel\ndef k(s: S, x: sn.array(dtype=float)):\n"
        "    x[sn.tid()] = s.a\n", ("a", "b"), ("b", "a"),
    ),
    "struct in a tuple": (
        "@sn.struct\nclass S:\n    {0}: float\n    {1}: float\n@sn.func\ndef f(s: tuple[S, int]):\n    t, _ = s\n"
        "    return t.a\n@sn.kernel\ndef k(s: S, x: sn.array(dtype=float)):\n    x[sn.tid()] = f((s, 1))\n",
        ("a", "b"), ("b", "a"),
    ),
    "closure": (
        "def make(g):\n    @sn.kernel\n    def k(x: sn.array(dtype=float)):\n        x[sn.tid()] = g\n    return k\n"
        "k = make({0})\n", "2.0", "3.0",
    ),
    "func in a closure": (
        "@sn.func\ndef f(a: float):\n    return a\n@sn.func\ndef g(a: float):\n    return a + a\n"
        "def make(h):\n    @sn.kernel\n    def k(x: sn.array(dtype=float)):\n"
        "        x[sn.tid()] = h(2.0)\n    return k\nk = make({0})\n", "f", "g",
    ),
    "what a func changes": (
        "@sn.func(changes={0})\ndef f(a: float, b: float):\n    return a + 1.0, b + 2.0\n"
        "@sn.kernel\ndef k(x: sn.array(dtype=float)):\n    c = 0.0\n    d = 0.0\n    e = f(c, d)\n"
        "    x[sn.tid()] = c + 2.0 * d\n", '("a", "b")', '("b", "a")',
    ),
    "alias of a type": (
        "P = {0}\n@sn.func\ndef f(a: P):\n    b, c = a\n    return b\n@sn.kernel\ndef k(x: sn.array(dtype=float)):\n"
        "    x[sn.tid()] = sn.float32(f((1, 2.5)))\n", "tuple[int, float]", "tuple[float, float]",
    ),
    "static": ("G = {0}" + _ONE.format(type="float", expression="sn.static(G + 1.0)"), "2.0", "3.0"),
    "fast_math": (
        "@sn.kernel(fast_math={0})\ndef k(x: sn.array(dtype=float)):\n    x[sn.tid()] = sn.sin(x[sn.tid()])\n",
        "False", '"reproducible"',
    ),
}  # fmt: skip


def filled(text: str, value: str | tuple[str, ...]) -> str:
    for number, one in enumerate((value,) if isinstance(value, str) else value):
        text = text.replace(f"{{{number}}}", one)
    return text


@pytest.mark.parametrize("case", CASES)
def test_what_changes_a_module_changes_its_fingerprint(case: str) -> None:
    text, *values = CASES[case]
    kernels = [written(filled(text, value))["k"] for value in values]
    keys = [key(kernel) for kernel in kernels]
    assert keys[0] is None or keys[0] != keys[1]
    if case != "static":
        assert keys[0] is not None
        assert keys[0] == key(written(filled(text, values[0]))["k"]), "it depends on more than the text and values"
    else:
        assert keys == [None, None]


@pytest.mark.parametrize("case", [case for case in CASES if case not in ("overload", "zero's sign")])
def test_the_cases_are_of_different_modules(case: str) -> None:
    text, *values = CASES[case]
    made = []
    for value in values:
        try:
            made.append(identity(written(filled(text, value))["k"]))
        except BuildError as refused:
            made.append(str(refused))
    assert made[0] != made[1]


@pytest.mark.parametrize("case", ["global", "numpy scalar", "vector", "enum", "func", "annotation"])
def test_a_name_that_is_bound_anew_changes_the_fingerprint(case: str) -> None:
    text, *values = CASES[case]
    first, second = (written(filled(text, value)) for value in values)
    before = key(first["k"])
    first.update((name, second[name]) for name in ("G", "f", "T") if name in second)
    again = key(first["k"])
    assert before is not None
    assert case == "annotation" or before != again  # an annotation is evaluated where it stands


_PIECES = ["x[i]", "G", "H[1]", "C.a", "f(x[i])", "g(G)", "float(n)", "float(E.A)", "2.0", "sn.sin(x[i])"]
_VALUES = st.sampled_from(["1.0", "2.0", "-0.0"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A module whose kernel uses some of what is around it."""
    used = draw(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=3))
    inner = draw(st.sampled_from(["G", "H[0]", "C.a", "3.0"]))
    return (
        f"G = {draw(_VALUES)}\nH = (1.0, {draw(_VALUES)})\nclass C:\n    a = {draw(_VALUES)}\n"
        f"class E(enum.IntEnum):\n    A = {draw(st.sampled_from('12'))}\n"
        f"@sn.func\ndef g(a: float):\n    return a * {inner}\n@sn.func\ndef f(a: float):\n    return g(a) + G\n"
        + _ONE.format(type="float", expression=" + ".join(used))
    )


@given(texts(), texts(), st.booleans())
@settings(max_examples=120, deadline=None)
def test_equal_fingerprints_mean_equal_digests(one: str, other: str, mixed: bool) -> None:
    first, second = written(one), written(other)
    if mixed:  # the text of one with what the other's names are bound to
        identical = written(one)
        identical.update((name, second[name]) for name in ("G", "H", "C", "E"))
        second = identical
    if key(first["k"]) == key(second["k"]):
        assert identity(first["k"]) == identity(second["k"])
    elif one == other and not mixed:
        pytest.fail("the same text has two fingerprints")


def test_what_lies_beside_a_function_changes_nothing() -> None:
    text, value, _ = CASES["func"]
    assert key(written(filled(text, value))["k"]) == key(written("\n# above\n\n" + filled(text, value))["k"])


def test_layouts_and_overloads_have_their_own() -> None:
    kernel = written("G = 1.0" + _ONE.format(type="Any", expression="x[i]"))["k"]
    kinds = [kernel.overload({"x": names}) for names in (_array("float32"), _array("float64"))]
    keys = [key(kinds[0]), key(kinds[1]), key(kinds[0], {"x": "strided"}), key(kinds[0], {"x": "indexed"})]
    assert None not in keys
    assert len(set(keys)) == 4


def _array(name: str) -> Any:
    return written(f"T = sn.array(dtype=sn.{name})")["T"]


@pytest.mark.parametrize(
    "text",
    [
        "class C:\n    __slots__ = ('a',)\nG = C()\nG.a = 2.0\n",
        "class C(float):\n    a = 2.0\nG = C()\n",
        "class C:\n    a = 2.0\nG = C()\nG.b = object()\n",
        "G = SimpleNamespace(a=2.0, b=np.zeros(1 << 20))\n",
    ],
)
def test_what_cannot_be_told_has_no_fingerprint(text: str) -> None:
    assert key(written(text + _ONE.format(type="float", expression="x[i] * G.a"))["k"]) is None


def test_a_line_that_goes_on_less_indented_is_of_the_function() -> None:
    text = "T = {0}" + _ONE.format(type="float", expression="x[i]") + "    y: (\nT\n) = x[i]\n"
    one, other = (written(text.replace("{0}", kind))["k"] for kind in ("sn.float32", "sn.float64"))
    assert key(one) != key(other)
