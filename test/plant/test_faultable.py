import numpy as np
import pytest

import sim_node as sn
from sim_node.bridge import Publisher
from sim_node.errors import PlantError
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Plant, Stepper, reference, reference_of
from sim_node.plant.fault_table import FaultTable
from sim_node.plant.faultable import TABLE, Allowed, FaultablePlant, faultable

DT_NS = 1_000_000


@pytest.fixture(scope="module")
def car():
    return reference("quarter_car?faults=force,body:5,tyre_force;rows=4")


def stepper_of(kind, faults=(), **options):
    stepper = Stepper(kind(), dt_ns=DT_NS, **options)
    table = FaultTable(stepper.plant, DT_NS)
    for each in faults:
        table.inject(each, 0)
    stepper.set(TABLE, table.rows())
    return stepper


def test_readers_find_the_layout_of_the_plant_itself(car):
    assert car().layout == QuarterCar().layout
    assert car.__name__ == "QuarterCar"
    assert car.title == QuarterCar.title
    assert car.declarations.parameters == QuarterCar.declarations.parameters
    assert car().faultable == {"force": 0, "body": 5, "tyre_force": 0}
    assert QuarterCar().faultable == {}


@pytest.mark.parametrize("substeps", [1, 3])
def test_without_a_fault_all_bits_are_those_of_the_plant_itself(car, substeps):
    plain = Stepper(QuarterCar(), dt_ns=DT_NS, substeps=substeps)
    stepper = Stepper(car(), dt_ns=DT_NS, substeps=substeps)
    for force in (0.0, 700.0):
        for each in (plain, stepper):
            each.set("force", force)
            each.tick(300)
        for field in plain.state_layout:
            assert stepper.get(field.name).tobytes() == plain.get(field.name).tobytes(), field.name


def test_what_is_not_asked_for_costs_nothing():
    assert [field.name for field in QuarterCar().input_layout] == ["force"]
    assert Stepper(QuarterCar(), dt_ns=DT_NS).commanded == ["force"]


def test_a_sensor_lies_and_the_plant_goes_on(car):
    plain = Stepper(QuarterCar(), dt_ns=DT_NS)
    stepper = stepper_of(car, [{"variable": "body", "stuck_at": 9.0, "element": 1, "after": 0.1, "until": 0.2}])
    seen = []
    for _ in range(300):
        plain.tick()
        stepper.tick()
        assert stepper.get("body.true").tobytes() == plain.get("body").tobytes()
        seen.append(stepper.get("body")[1] == 9.0)
    assert seen == [False] * 100 + [True] * 100 + [False] * 100


def test_a_fault_of_an_input_moves_the_plant(car):
    other = Stepper(QuarterCar(), dt_ns=DT_NS)
    stepper = stepper_of(car, [{"variable": "force", "gain": -1.0}])
    stepper.set("force", 300.0)
    other.set("force", -300.0)
    for each in (stepper, other):
        each.tick(50)
    assert stepper.get("force").tolist() == [300.0] * 4
    assert stepper.get("force.applied").tolist() == [-300.0] * 4
    assert stepper.get("body").tobytes() == other.get("body").tobytes()


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("at", [1, 7, 103])
def test_a_keyframe_holds_what_faults_remember(car, at, substeps):
    faults = [{"variable": "body", "delay": 0.005, "first_tick": 4}, {"variable": "body", "drop": 0.5, "seed": 2},
              {"variable": "force", "noise": 100.0}]  # fmt: skip
    first = stepper_of(car, faults, substeps=substeps)
    first.tick(at)
    keyframe = first.keyframe()
    second = Stepper(car(), dt_ns=DT_NS, substeps=substeps)
    second.restore(keyframe)
    for _ in range(20):
        first.tick()
        second.tick()
        assert first.hashes().tolist() == second.hashes().tolist()


def test_records_replay_to_the_same_hashes(car):
    stepper = stepper_of(car, [{"variable": "body", "delay": 0.005}, {"variable": "force", "noise": 50.0}])
    table = FaultTable(stepper.plant, DT_NS)
    start = stepper.keyframe()
    stepper.tick(40)
    table.inject({"variable": "tyre_force", "flip_bit": 3}, stepper.step)
    stepper.set(TABLE, table.rows())
    stepper.tick(40)
    records = stepper.drain()
    again = Stepper(car(), dt_ns=DT_NS)
    again.restore(start)
    assert again.replay(records.inputs).hashes.tolist() == records.hashes.tolist()


def test_a_command_through_the_ring_is_faulted_too(car):
    plant = car()
    with Publisher(plant.layout, plant.input_layout) as publisher:
        stepper = Stepper(plant, dt_ns=DT_NS, ring=publisher.ring)
        table = FaultTable(plant, DT_NS)
        table.inject({"variable": "force", "offset": 5.0}, 0)
        stepper.set(TABLE, table.rows())
        stepper.tick()
        assert stepper.get("force.applied").tolist() == [5.0] * 4


def test_lockstep_waits_for_no_faults(car):
    stepper = Stepper(car(), dt_ns=DT_NS)
    assert stepper.commanded == ["force"]
    with pytest.raises(PlantError, match=r"no answer to tick 0 on 'force' within"):
        stepper.run(DT_NS, clock="lockstep", limit_ns=1, miss="stop", ticks=1)


@pytest.mark.parametrize("text", ["force;rows=4", "force,body:50;rows=16", "a;rows=1"])
def test_what_is_allowed_reads_back(text):
    assert str(Allowed.parse(text)) == text


def test_a_reference_names_it_and_finds_it_again(car):
    text = "sim_node.kernels.quarter_car:QuarterCar?faults=force,body:5,tyre_force;rows=4"
    assert reference_of(car) == text
    assert reference(text) is car
    assert issubclass(reference("quarter_car?faults=force"), FaultablePlant)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "says '', which is no variable that may have faults"),
        ("force,", "says '', which is no variable"),
        ("force,force", "says 'force', which is no variable"),
        ("force:x", "says 'force:x', which is no variable"),
        ("force:-1", "says 'force:-1', which is no variable"),
        ("force:9999999999", "says 'force:9999999999'"),
        ("force;rows=x", "ends with 'rows=x'; write PLANT[?]faults="),
        ("force;rows=0", "QuarterCar: there are 1 … 4096 faults at a time, not 0"),
        ("force;rows=5000", "QuarterCar: there are 1 … 4096 faults at a time, not 5000"),
        ("forse", "'forse' cannot have faults: no input or published field; did you mean 'force'?"),
        ("distance", "'distance' cannot have faults: no input or published field; readers do not see it: publish it"),
        ("body:1000001", "a delay of 'body' is at most 1000000 ticks, not 1000001"),
    ],
)
def test_what_cannot_have_faults_is_refused(text, message):
    with pytest.raises(PlantError, match=message):
        reference(f"quarter_car?faults={text}")


class Named(Plant):
    faults = sn.input(sn.float32)


def test_a_plant_that_has_the_name_itself_is_refused(car):
    with pytest.raises(PlantError, match="plant Named: 'faults' is the input of faults; rename"):
        faultable(Named, Allowed((("faults", 0),)))
    with pytest.raises(PlantError, match="QuarterCar may have faults already"):
        faultable(car, Allowed((("force", 0),)))


@sn.kernel
def half(x: sn.array(dtype=sn.float32), y: sn.array(dtype=sn.float32)):
    i = sn.tid()
    y[i] = 0.5 * x[i]


class Chain(Plant):
    """An output that a later launch reads, of a shape with two axes."""

    x = sn.state(sn.float32, shape=(2, 3), publish=True, initial=64.0)
    low = sn.output(sn.float32, shape=(2, 3))
    lower = sn.output(sn.float32, shape=(2, 3))

    def build(self, plan, dt):
        plan.launch(half, dim=6, inputs=[self.x], outputs=[self.low])
        plan.launch(half, dim=6, inputs=[self.low], outputs=[self.lower])
        plan.launch(half, dim=6, inputs=[self.x], outputs=[self.x.next])


def test_the_plant_reads_its_own_output_as_it_is():
    kind = faultable(Chain, Allowed((("low", 0), ("x", 1))))
    stepper = stepper_of(kind, [{"variable": "low", "stuck_at": 1.0, "element": [1, 2]},
                                {"variable": "x", "delay": 0.001, "first_tick": 2}])  # fmt: skip
    stepper.tick()
    assert stepper.get("low").tolist() == [[32.0] * 3, [32.0, 32.0, 1.0]]
    assert stepper.get("lower").tolist() == [[16.0] * 3] * 2
    stepper.tick()
    assert stepper.get("x").tolist() == [[32.0] * 3] * 2  # of the tick before
    assert np.array_equal(stepper.get("x.true"), np.full((2, 3), 16.0))
    fresh = Stepper(kind(), dt_ns=DT_NS)
    assert fresh.get("x.past").tolist() == [[[64.0] * 3] * 2] * 2
