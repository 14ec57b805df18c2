"""Integer polynomials of degree two over values, which are known by their numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Monomial = tuple[int, ...]  # numbers in order; () is 1
Interval = tuple[int, int]  # both ends belong to it

DEGREE = 2


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of monomials with their coefficients, none of which is 0."""

    terms: Mapping[Monomial, int] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __add__(self, other: Polynomial) -> Polynomial:
        total = dict(self.terms)
        for monomial, factor in other.terms.items():
            total[monomial] = total.get(monomial, 0) + factor
        return Polynomial({monomial: factor for monomial, factor in total.items() if factor})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other.scaled(-1)

    def scaled(self, by: int) -> Polynomial:
        """This times a constant."""
        return Polynomial({monomial: factor * by for monomial, factor in self.terms.items()} if by else {})

    def times(self, other: Polynomial) -> Polynomial | None:
        """The product; None where its degree is above two."""
        total = Polynomial()
        for monomial, factor in self.terms.items():
            for another, by in other.terms.items():
                if len(monomial) + len(another) > DEGREE:
                    return None
                total += Polynomial({tuple(sorted(monomial + another)): factor * by})
        return total

    @property
    def atoms(self) -> set[int]:
        """The numbers in it."""
        return {atom for monomial in self.terms for atom in monomial}

    @property
    def constant(self) -> int | None:
        """What it is where it is a constant."""
        return None if self.atoms else self.terms.get((), 0)

    def split(self, atom: int) -> tuple[Polynomial, Polynomial] | None:
        """Write it as f · atom + rest: f and rest without the atom; None where the atom is squared."""
        factor: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        for monomial, by in self.terms.items():
            others = tuple(each for each in monomial if each != atom)
            if len(monomial) - len(others) > 1:
                return None
            (rest if others == monomial else factor)[others] = by
        return Polynomial(factor), Polynomial(rest)

    def replacing(self, new: Mapping[int, Polynomial]) -> Polynomial | None:
        """Put other polynomials in the place of numbers; None where the degree grows above two."""
        total = Polynomial()
        for monomial, by in self.terms.items():
            product: Polynomial | None = number(by)
            for atom in monomial:
                product = product and product.times(new.get(atom) or of(atom))
            if product is None:
                return None
            total += product
        return total

    def interval(self, of_atom: Callable[[int], Interval]) -> Interval:
        """The least and the greatest that it may be, where each number is anywhere between its own."""
        low = high = 0
        for monomial, by in self.terms.items():
            least = most = by
            for atom in monomial:
                ends = [end * other for end in (least, most) for other in of_atom(atom)]
                least, most = min(ends), max(ends)
            low, high = low + least, high + most
        return low, high


def number(value: int) -> Polynomial:
    """A constant."""
    return Polynomial({(): value} if value else {})


def of(atom: int) -> Polynomial:
    """One number."""
    return Polynomial({(atom,): 1})
