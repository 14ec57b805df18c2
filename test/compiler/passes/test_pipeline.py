"""Random programs mean the same, bit for bit, before and after the passes and LLVM's own optimiser."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim_node.compiler.ir.op import SIGNATURES, Op, Rule
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.printer import attribute
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.pipeline import PASSES
from sim_node.dtypes import SCALARS, Scalar, bool_

# Divisions need a check, which would stop most of the threads.
OPS = [
    op
    for op, row in SIGNATURES.items()
    if row.rule in (Rule.SAME, Rule.BOOL) and op not in (Op.BOUNDS, Op.QUOT, Op.REM)
]
THREADS = 24


class Program:
    """IR text in the making, and for each type the values that may be used at this point."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.pool: dict[Scalar, list[str]] = {kind: [] for kind in SCALARS}
        self.count = 0

    def add(self, kind: Scalar, text: str) -> None:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        self.pool[kind].append(f"%v{self.count}")

    def pick(self, kind: Scalar) -> str:
        return self.draw(st.sampled_from(self.pool[kind]))

    def step(self) -> None:
        kind = self.draw(st.sampled_from(SCALARS))
        choices = [op for op in OPS if kind.kind.value in SIGNATURES[op].kinds]
        op = self.draw(st.sampled_from([*choices, Op.CONST, Op.CAST, Op.SELECT]))
        if op is Op.CONST:
            number = self.draw(st.sampled_from([0, 1, -1, 2]))
            value = bool(number) if kind is bool_ else kind(abs(number) if kind.kind.value == "u" else number).item()
            self.add(kind, f"const {kind!r}{attribute(value)}")
        elif op is Op.CAST:
            source = self.draw(st.sampled_from(SCALARS))
            self.add(kind, f"cast {kind!r} {self.pick(source)}")
        elif op is Op.SELECT:
            self.add(kind, f"select {kind!r} {self.pick(bool_)}, {self.pick(kind)}, {self.pick(kind)}")
        else:
            result = bool_ if SIGNATURES[op].rule is Rule.BOOL else kind
            args = ", ".join(self.pick(kind) for _ in range(SIGNATURES[op].arity or 0))
            self.add(result, f"{op.name.lower()} {result!r} {args}")

    def steps(self) -> None:
        for _ in range(self.draw(st.integers(0, 6))):
            self.step()

    def diamond(self, number: int) -> None:
        """Branch, compute on both sides, and join in a block with a parameter."""
        kind, condition = self.draw(st.sampled_from(SCALARS)), self.pick(bool_)
        self.lines.append(f"  branch {condition} -> left{number}, right{number}")
        before = {kind: list(values) for kind, values in self.pool.items()}
        for side in ("left", "right"):
            self.lines.append(f"{side}{number}:")
            self.steps()
            self.lines.append(f"  jump -> join{number}({self.pick(kind)})")
            self.pool = {kind: list(values) for kind, values in before.items()}
        self.lines.append(f"join{number}({kind!r} %j{number}):")
        self.pool[kind].append(f"%j{number}")


@st.composite
def programs(draw: st.DrawFn) -> str:
    program = Program(draw)
    for i, kind in enumerate(SCALARS):
        program.lines.append(f"  %p{i} = extract ptr %x{i} {{0}}\n  %o{i} = offset ptr %p{i}, %i {{{kind.size}}}")
        program.add(kind, f"load {kind!r} %o{i} {{0}}")
    for number in range(draw(st.integers(0, 3))):
        program.steps()
        program.diamond(number)
    program.steps()
    for i, kind in enumerate(SCALARS):
        program.lines.append(f"  %q{i} = extract ptr %y{i} {{0}}\n  %t{i} = offset ptr %q{i}, %i {{{kind.size}}}")
        program.lines.append(f"  store %t{i}, {program.pool[kind][-1]} {{0}}")
    arrays = ", ".join(f"array<{kind!r}> %{side}{i}" for side in "xy" for i, kind in enumerate(SCALARS))
    return f"kernel @k({arrays}) {{\nb0:\n  %i = tid i32 {{0}}\n" + "\n".join(program.lines) + "\n  return\n}"


def inputs() -> list[np.ndarray]:
    random = np.random.default_rng(3)
    arrays = []
    for kind in SCALARS:
        raw = random.integers(0, 256, THREADS * kind.size, np.uint8)
        if kind is bool_:
            raw &= 1
        values = raw.view(kind.numpy).copy()
        values[:4] = [0, 1, 1, 0] if kind is bool_ else [0, 1, 2, 3]
        if kind.is_float:
            values[4:8] = [-0.0, np.nan, np.inf, -np.inf]
            values[12:] = random.standard_normal(THREADS - 12)
        arrays.append(values)
    return arrays


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(programs())
def test_optimising_changes_no_bit(execute, text):
    x = inputs()
    plain = [np.zeros(THREADS, kind.numpy) for kind in SCALARS]
    fast = [np.zeros(THREADS, kind.numpy) for kind in SCALARS]
    execute(text, THREADS, *x, *plain, opt_level=0, optimised=False)
    execute(text, THREADS, *x, *fast, opt_level=3)
    for kind, one, other in zip(SCALARS, plain, fast):
        assert one.tobytes() == other.tobytes(), (kind, one, other)


@settings(max_examples=40, deadline=None)
@given(programs())
def test_every_pass_leaves_a_module_that_it_would_not_change_again(text):
    module = parse(text)
    for change in PASSES:
        module = verify(change(module), change.__name__)
        assert change(module).entry == module.entry
