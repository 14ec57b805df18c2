"""Instances of structs on the host: fields, copies, arrays, and the memory in C layout."""

import copy
import pickle

import numpy as np
import pytest

import sim_node as sn


@sn.struct
class Part:
    count: sn.int8
    at: sn.vec3
    turn: sn.mat22d


@sn.struct
class Whole:
    part: Part
    gain: float
    values: sn.array(dtype=float)


def test_fields_are_given_in_order_or_by_name_and_are_zero_otherwise() -> None:
    part = Part(3, (1, 2, 3))
    assert (part.count, part.at, part.turn) == (3, sn.vec3(1, 2, 3), sn.mat22d())
    assert part == Part(at=(1, 2, 3), count=3)
    assert Part(part) == part
    assert type(part.count) is np.int8


def test_a_composite_field_is_part_of_the_instance() -> None:
    whole = Whole()
    whole.part.at.x = 5
    whole.part.turn[0, 1] = 7
    whole.part.count = 2
    assert whole.part == Part(2, (5, 0, 0), sn.mat22d(0, 7, 0, 0))
    twin = copy.copy(whole)
    twin.part.at.x = 1
    assert whole.part.at.x == 5
    whole.part = Part(1)
    assert whole.part.at.x == 0
    whole.part.at = (1, 2, 3)
    whole.part.at = None
    assert whole.part.at == sn.vec3()
    twin.assign(whole)
    assert twin == whole


def test_an_array_is_referred_to() -> None:
    values = sn.zeros(3)
    whole = Whole(values=values)
    assert whole.values is values
    assert copy.copy(whole).values is values
    whole.values = None
    assert whole.values is None


def test_the_memory_is_laid_out_as_in_c() -> None:
    memory = np.asarray(Part(1, (1, 2, 3), ((4, 4), (4, 4))))
    assert (memory.dtype.itemsize, memory.dtype.fields["at"][1], memory.dtype.fields["turn"][1]) == (48, 4, 16)


def test_it_prints_and_pickles() -> None:
    part = Part(1, (1, 2, 3))
    assert repr(part) == "Part(count=1, at=vec3f([1.0, 2.0, 3.0]), turn=mat22d([[0.0, 0.0],\n [0.0, 0.0]]))"
    assert pickle.loads(pickle.dumps(part.at)) == part.at


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: Part(1, 2, 3, 4), TypeError, "has 3 fields"),
        (lambda: Part(1, count=1), TypeError, "'count' is given twice"),
        (lambda: Part(cuont=1), AttributeError, "no field 'cuont'; it has count, at, turn"),
        (lambda: Part(count=1.5), TypeError, "not made of the float 1.5"),
        (lambda: Whole(values=[1, 2]), TypeError, r"field '\w+' of Whole refers to an array of f32 .* not to a list"),
        (lambda: Whole(values=sn.zeros(2, int)), TypeError, "not to one of i32 in 1"),
        (lambda: Part(at=2), TypeError, "Struct field 'at' expects vec3f but got a single value, 2"),
        (lambda: Part().assign(3), TypeError, "takes one of its own"),
    ],
)
def test_what_is_refused(make, error, told) -> None:
    with pytest.raises(error, match=told):
        make()
