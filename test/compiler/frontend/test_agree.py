"""Two types never mix silently; literals adapt."""

import pytest

from sim_node.errors import BuildTypeError


@pytest.mark.parametrize(
    ("body", "family", "what", "remedy"),
    [
        ("x[0] = ¦x[0] + a[0]", BuildTypeError, "'+' mixes f32 and i32", "sn.int32(x[0]) or sn.float32(a[0])"),
        ("x[0] = ¦x[0] + d[0]", BuildTypeError, "'+' mixes f32 and f64", "sn.float64(x[0]) or sn.float32(d[0])"),
        ("flag = ¦n < s", BuildTypeError, "'<' mixes i32 and f32", "sn.float32(n) or sn.int32(s)"),
        ("y = 0.0\nd[0] = ¦d[0] + y", BuildTypeError, "'+' mixes f64 and f32", "in line 3: y = sn.float64(0.0)"),
        ("y = 0.0\n¦y += d[0]", BuildTypeError, "'+' mixes f32 and f64", "in line 3: y = sn.float64(0.0)"),
        ("y = n\nd[0] = ¦d[0] + y", BuildTypeError, "'+' mixes f64 and i32", "sn.int32(d[0]) or sn.float64(y)"),
        ("flag = ¦p[0] == s", BuildTypeError, "'==' mixes vec3f and f32", "sn.vec3f(…)"),
        ("flag = ¦p[0] == 1.0", BuildTypeError, "'==' mixes vec3f and a number", "sn.vec3f(…)"),
        ("x[0] = s + ¦x", BuildTypeError, "'x' is an array of f32, not a scalar or vector", "index the array: x[i]"),
        ("x[0] = s + ¦sn", BuildTypeError, "'sn' is a module", ""),
        ("x[0] = s + ¦float", BuildTypeError, "'float' is a type", ""),
        ("x[0] = s + ¦(1, 2)", BuildTypeError, "'(1, 2)' is a tuple", "take one of its parts: (1, 2)[0]"),
        ("x[0] = s + ¦True", BuildTypeError, "True cannot be f32: a bool is no number", "sn.float32(True)"),
        ("x[0] = s + ¦16777217", BuildTypeError, "16777217 cannot be f32: the nearest f32 is 16777216", "sn.float64"),
        (
            "d[0] = ¦s if flag else 0.2",
            BuildTypeError,
            "is f64, not f32",
            "sn.float64(s) if flag else sn.float64(0.2)",
        ),
        ("a[0] = n + ¦0.5", BuildTypeError, "0.5 cannot be i32: it is a float", "convert the other side"),
        ("a[0] = n + ¦2.0", BuildTypeError, "2.0 cannot be i32: it is a float", "write 2"),
        ("a[0] = n + ¦2147483648", BuildTypeError, "2147483648 cannot be i32", "sn.int64"),
    ],
)
def test_refused(refusal, body, family, what, remedy):
    refusal(body, family, what, remedy)
