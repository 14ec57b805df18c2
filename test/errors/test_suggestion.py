import pytest

from sim_node.errors.suggestion import suggestion


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (["force", "forces"], "; did you mean 'force'?"),
        (["mass", "length"], "; there are mass, length"),
        ([], "; there are none"),
    ],
)
def test_what_was_meant(known, told):
    assert suggestion("forc", iter(known)) == told
