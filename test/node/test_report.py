from sim_node.errors import PlantError, RingError
from sim_node.node.report import report


def raised(fault, cause=None):
    try:
        raise fault from cause
    except type(fault) as caught:
        return caught


def test_errors_of_the_package_are_told_with_their_causes_and_no_more():
    fault = raised(PlantError("the plant cannot be built"), RingError("no room"))
    assert report("could not configure", fault) == (
        "could not configure: the plant cannot be built\n  caused by no room"
    )


def test_an_error_of_a_plants_author_shows_where_it_rose():
    told = report(
        "could not configure", raised(PlantError("module cannot be imported"), raised(ZeroDivisionError("/ 0")))
    )
    assert told.splitlines()[0] == "could not configure: module cannot be imported"
    assert "ZeroDivisionError: / 0" in told
    assert "test_report.py" in told
