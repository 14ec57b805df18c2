import os
import signal

import pytest

from sim_node.stop import STOP_SIGNALS, stop_requested


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_sets_the_event_inside_the_block_only(number):
    before = signal.getsignal(number)
    with stop_requested() as stop:
        assert not stop.is_set()
        os.kill(os.getpid(), number)
        assert stop.wait(60)
    assert signal.getsignal(number) is before
