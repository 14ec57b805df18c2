import numpy as np

from sim_node.compiler.backend.abi import dims, words
from sim_node.dtypes import ArrayType, bool_, float32, float64, int32, pointer, vec3, vec3d


def test_the_argument_block_of_the_contract():
    placed = words([bool_, ArrayType(vec3), float32, vec3, bool_, vec3d, int32, ArrayType(bool_, 3)])
    assert [word.offset for word in dims()] == [0, 4, 8, 12]
    assert [(word.offset, word.scalar) for word in placed] == [
        (16, bool_),
        (24, pointer),
        (32, int32),
        (40, float32),
        *((at, float32) for at in (44, 48, 52)),
        (56, bool_),
        *((at, float64) for at in (64, 72, 80)),
        (88, int32),
        (96, pointer),
        *((at, int32) for at in (104, 108, 112)),
    ]


def test_parameters_of_every_kind_arrive(execute):
    text = """
    kernel @k(bool %b, array<f64> %y, u64 %u, vec2i %v, bool %c, vec3d %w) {
    b0:
      %i = tid i32 {0}
      %one = extract i32 %v {1}
      %two = extract f64 %w {2}
      %d = cast f64 %u
      %e = cast f64 %one
      %f = select f64 %b, %d, %e
      %g = select f64 %c, %two, %f
      %s1_p = extract ptr %y {0}
      %s1_o = offset ptr %s1_p, %i {8}
      store %s1_o, %g {0}
      return
    }
    """
    y = np.zeros(1)
    for b, c, want in ((True, False, 2.0**63), (False, False, -7.0), (False, True, 0.25)):
        execute(text, 1, b, y, 2**63, (3, -7), c, (1, 2, 0.25))
        assert y[0] == want
