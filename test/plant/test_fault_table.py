import pytest

from sim_node.errors import PlantError
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import reference
from sim_node.plant.fault_table import FaultTable

DT_NS = 1_000_000


@pytest.fixture
def table():
    return FaultTable(reference("quarter_car?faults=force,body:5;rows=2")(), DT_NS)


def test_rows_are_in_the_order_of_injection(table):
    assert not table.rows().any()
    table.inject({"variable": "body", "flip_bit": 3, "element": 2, "seed": 9, "last_tick": 8}, 4)
    table.inject({"variable": "force", "gain": 0.5}, 4)
    assert table.rows().tolist() == [[1, 8, 2, 5, 8, 3, 9], [0, 3, -1, 5, 2**53 - 1, 0.5, 0]]


def test_what_has_ended_makes_room(table):
    for last in (5, 9):
        table.inject({"variable": "force", "gain": 0.5, "last_tick": last}, 0)
    with pytest.raises(PlantError, match="fault of 'force': there are 2 faults already; clear some, or allow more"):
        table.inject({"variable": "force", "gain": 0.5}, 4)
    table.inject({"variable": "force", "gain": 0.25}, 5)
    assert [fault.value for fault in table.faults] == [0.5, 0.25]
    assert [fault.value for fault in table.active(9)] == [0.5, 0.25]
    assert [fault.value for fault in table.active(10)] == [0.25]


def test_clearing_takes_those_of_a_variable_or_all(table):
    for name in ("force", "body"):
        table.inject({"variable": name, "nan": True}, 0)
    assert table.clear("force") == 1
    assert [fault.variable for fault in table.faults] == ["body"]
    assert table.clear() == 1
    assert table.clear() == 0
    with pytest.raises(PlantError, match=r"no faults of 'forse'; did you mean 'force'\?"):
        table.clear("forse")


def test_what_the_plant_cannot_have_is_refused(table):
    with pytest.raises(PlantError, match="fault of 'wheel': it may have none; there are force, body"):
        table.inject({"variable": "wheel", "nan": True}, 0)
    with pytest.raises(PlantError, match="a delay of 6 ticks is more than the 5 that it was built for; allow 'body:6'"):
        table.inject({"variable": "body", "delay": 0.006}, 0)
    with pytest.raises(PlantError, match="QuarterCar was built without faults; allow those of 'body' when it is built"):
        FaultTable(QuarterCar(), DT_NS).inject({"variable": "body", "nan": True}, 0)
