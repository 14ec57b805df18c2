import re

import numpy as np
import pytest

import sim_node as sn
from sim_node.compiler.backend import host, weave
from sim_node.compiler.frontend import lower
from sim_node.compiler.passes.pipeline import optimise

V = sn.array(dtype=sn.vec3)


def shuffled(lines, vectors):
    """Do what shuffles say."""
    vectors = dict(vectors)
    for line in lines:
        name, one, other, mask = re.fullmatch(
            r"  (%\S+) = shufflevector <\d+ x i32> (%?\S+), <\d+ x i32> (%?\S+), <\d+ x i32> <(.*)>", line
        ).groups()
        both = np.concatenate([vectors[one], vectors.get(other, np.zeros(0, int))])
        vectors[name] = np.array([-1 if at.endswith("poison") else both[int(at.split()[1])] for at in mask.split(", ")])
    return vectors


@pytest.mark.parametrize("parts", [2, 3, 4, 7])
@pytest.mark.parametrize("lanes", [4, 16])
def test_parts_come_apart_and_together_again(parts, lanes):
    elements = np.arange(parts * lanes).reshape(lanes, parts)
    rows = {f"%r{at}": row for at, row in enumerate(elements.reshape(parts, lanes))}
    columns = {f"%c{at}": column for at, column in enumerate(elements.T)}
    for at in range(parts):
        found = shuffled(weave.apart([*rows], at, "i32", lanes, "%a"), rows)
        np.testing.assert_array_equal(found["%a"], elements[:, at])
        found = shuffled(weave.together([*columns], at, "i32", lanes, "%a"), columns)
        np.testing.assert_array_equal(found["%a"], rows[f"%r{at}"])


@sn.kernel
def whole(p: V, v: V):
    i = sn.tid()
    v[i] = p[i] + v[i]


@sn.kernel
def one_of_many(m: sn.array(dtype=sn.mat44), y: sn.array(dtype=float)):
    i = sn.tid()
    y[i] = m[i][2, 1]


@sn.kernel
def some_parts(v: V):
    i = sn.tid()
    v[i][0] = 1.0
    v[i][2] = 2.0


@sn.kernel
def between(v: V, w: V):
    i = sn.tid()
    x = v[i][0]
    w[i] = sn.vec3(x)
    w[i] = sn.vec3(v[i][1], v[i][2], x)


@pytest.mark.parametrize(
    ("kernel", "reads", "writes", "apart"),
    [(whole, 6, 3, 0), (one_of_many, 0, 1, 1), (some_parts, 0, 0, 2), (between, 6, 6, 0)],
    ids=lambda value: getattr(value, "name", None),
)
def test_elements_are_moved_whole_where_that_is_less(kernel, reads, writes, apart):
    text = host.module(optimise(lower(kernel)).entry, 256)
    text = text[text.rindex("\nlanes:") : text.rindex("\nmore:")]
    found = [len(re.findall(form, text)) for form in (" = load <", r"\n  store <", "@llvm.masked.(?:gather|scatter)")]
    assert found == [reads, writes, apart]
