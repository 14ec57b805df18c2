from sim_node.plant import Stepper

DT_NS = 1_000_000


def test_records_tell_inputs_as_applied_and_hashes(oscillators):
    stepper = Stepper(oscillators(size=3), dt_ns=DT_NS, record_capacity=8)
    for tick in range(1, 6):
        stepper.set("force", float(tick))
        stepper.tick()
        if tick == 4:
            last = stepper.hashes()
    records = stepper.drain()
    assert (records.first_step, records.count, records.lost) == (1, 5, 0)
    field = stepper.input_layout["force"]
    assert [field.view(row.tobytes()).tolist() for row in records.inputs] == [[float(t)] * 3 for t in range(1, 6)]
    assert records.hashes[3].tolist() == last.tolist()
    stepper.tick(11)
    kept = stepper.drain()
    assert (kept.first_step, kept.count, kept.lost) == (6, 8, 0)
    stepper.tick()
    after = stepper.drain()
    assert (after.first_step, after.count, after.lost) == (17, 1, 3)
    assert stepper.drain().count == 0
    assert stepper.counters()["lost"] == 3
