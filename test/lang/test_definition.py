"""What decorators find around the function that they are put on."""

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.lang.definition import surroundings


def test_the_names_are_those_of_the_function_that_makes_it():
    here = 1

    def inner():
        pass

    assert surroundings(inner)["here"] == here
    assert surroundings(surroundings) is surroundings.__globals__


def make(dtype):
    @sn.kernel
    def k(x: "sn.array(dtype=dtype)", y: "later"):
        x[0] = x[0]
        assert y == y

    return k


def test_text_may_name_what_only_the_factory_knows_and_what_comes_later():
    assert made.annotations["y"] == "later"
    assert [param.type for param in lower(made).entry.params] == [sn.array(dtype=sn.vec3), sn.float64]


made = make(sn.vec3)
later = sn.float64


class Holder:
    real = sn.float64

    @staticmethod
    @sn.func
    def twice(x: "real"):
        return x * 2.0

    @sn.kernel
    @staticmethod
    def k(x: "sn.array(dtype=real)"):
        x[0] = Holder.twice(x[0])


def test_in_a_class():
    assert Holder.twice(2.0) == 4.0
    assert [param.type for param in lower(Holder.k).entry.params] == [sn.array(dtype=sn.float64)]
