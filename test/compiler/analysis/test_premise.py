from sim_node.compiler.analysis.polynomial import number, of
from sim_node.compiler.analysis.premise import ALWAYS, MOST, NEVER, All, AtMost, Either, Holds, both, either

A, B, C = AtMost(of(1) - number(3)), AtMost(of(2)), Holds(3, True)


def test_all_of_several():
    assert both([]) == ALWAYS
    assert both([A]) == A == both([A, ALWAYS, A])
    assert both([A, both([B, C])]) == All((A, B, C))
    assert both([A, Either((B, C))]) == All((A, Either((B, C))))


def test_one_of_several():
    assert either([]) == NEVER
    assert either([A, NEVER]) == A
    assert either([A, either([B, C])]) == Either((A, B, C))
    assert len(either(AtMost(of(i)) for i in range(9)).parts) == MOST


def test_what_is_decided_ends_the_search():
    def parts(decided):
        yield decided
        raise AssertionError("went on")

    assert both(parts(NEVER)) == NEVER
    assert either(parts(ALWAYS)) == ALWAYS
