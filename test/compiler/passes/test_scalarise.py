import numpy as np

from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.parser import parse
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.scalarise import scalarise
from sim_node.dtypes import Vector

# x[i] = |x[i]| rotated, scaled by a vector parameter, summed in a loop whose state is a vector
VECTORS = """
kernel @k(array<vec3f> %x, vec3f %gain, i32 %rounds) {
b0:
  %i = tid i32 {0}
  %n = extract i32 %x {1}
  %at = bounds i32 %i, %n {0}
  %v_p = extract ptr %x {0}
  %v_o = offset ptr %v_p, %at {12}
  %v = load vec3f %v_o {0}
  %zero = const i32 {0}
  %one = const i32 {1}
  jump -> b1(%v, %zero)
b1(vec3f %s, i32 %r):
  %more = lt bool %r, %rounds
  branch %more -> b2, b3
b2:
  %a = extract f32 %s {0}
  %b = extract f32 %s {1}
  %c = extract f32 %s {2}
  %turned = make vec3f %b, %c, %a
  %scaled = mul vec3f %turned, %gain
  %kept = select vec3f %more, %scaled, %s
  %next = add i32 %r, %one
  jump -> b1(%kept, %next)
b3:
  %w = neg vec3f %s
  %d = cast vec3d %w
  %e = cast vec3f %d
  %s1_p = extract ptr %x {0}
  %s1_o = offset ptr %s1_p, %at {12}
  store %s1_o, %e {0}
  %y_p = extract ptr %x {0}
  %y_o = offset ptr %y_p, %at {12}
  %y = load f32 %y_o {4}
  %s2_p = extract ptr %x {0}
  %s2_o = offset ptr %s2_p, %at {12}
  store %s2_o, %y {0}
  return
}
"""


def test_only_parameters_are_vectors_and_the_meaning_stays(execute):
    module = verify(scalarise(verify(parse(VECTORS))))
    for block in module.entry.blocks:
        for value in (*block.params, *block.body):
            assert not isinstance(value.type, Vector)
            assert all(value.op is Op.EXTRACT or not isinstance(arg.type, Vector) for arg in value.args)
    x = np.arange(15, dtype=np.float32).reshape(5, 3)
    gain = np.float32([2, 3, 5])
    want = x.copy()
    for _ in range(4):
        want = np.roll(want, -1, axis=1) * gain
    want = -want
    want[:, 0] = want[:, 1]
    assert execute(parse(VECTORS), 5, x, gain, 4).code == 0
    np.testing.assert_array_equal(x, want)


def test_components_of_an_element_are_checked_once():
    module = scalarise(parse(VECTORS))
    ops = [value.op for block in module.entry.blocks for value in block.body]
    assert ops.count(Op.BOUNDS) == 1
    assert ops.count(Op.LOAD) == 4
    assert ops.count(Op.STORE) == 4
