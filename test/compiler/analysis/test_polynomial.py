"""Polynomials compute as integers do, and their intervals hold every value."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from sim_node.compiler.analysis.polynomial import Polynomial, number, of

ATOMS = 3
_values = st.lists(st.integers(-9, 9), min_size=ATOMS, max_size=ATOMS)
_monomials = st.lists(st.integers(0, ATOMS - 1), max_size=2).map(lambda atoms: tuple(sorted(atoms)))
_polynomials = st.dictionaries(_monomials, st.integers(-5, 5).filter(bool), max_size=4).map(Polynomial)


def at(polynomial, values):
    total = 0
    for monomial, by in polynomial.terms.items():
        for atom in monomial:
            by *= values[atom]
        total += by
    return total


@given(_polynomials, _polynomials, _values, st.integers(-4, 4))
def test_arithmetic_is_that_of_integers(a, b, values, by):
    assert at(a + b, values) == at(a, values) + at(b, values)
    assert at(a - b, values) == at(a, values) - at(b, values)
    assert at(a.scaled(by), values) == at(a, values) * by
    if (made := a.times(b)) is not None:
        assert at(made, values) == at(a, values) * at(b, values)
    assert a + b == b + a
    assert not (a - a).terms
    assert number(by) + of(0) - of(0) == number(by)


@given(_polynomials, _values)
def test_taken_apart_it_is_the_same(a, values):
    for atom in range(ATOMS):
        if (parts := a.split(atom)) is None:
            assert (atom, atom) in a.terms
            continue
        factor, rest = parts
        assert atom not in factor.atoms | rest.atoms
        assert at(factor, values) * values[atom] + at(rest, values) == at(a, values)


@given(_polynomials, _polynomials, _values)
def test_what_takes_the_place_of_a_number_is_its_value(a, b, values):
    if (made := a.replacing({0: b})) is not None:
        assert at(made, values) == at(a, [at(b, values), *values[1:]])


@given(_polynomials, st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=ATOMS, max_size=ATOMS))
def test_its_interval_holds_every_value(a, starts):
    ends = [(low, low + size) for low, size in starts]
    low, high = a.interval(lambda atom: ends[atom])
    assert all(low <= at(a, values) <= high for values in product(*(range(low, high + 1) for low, high in ends)))
