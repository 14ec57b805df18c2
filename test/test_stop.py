import os
import signal
import subprocess
import sys

import pytest

from sim_node.stop import STOP_SIGNALS, stop_requested

TWICE = """
import os, signal, sys, time
from sim_node.stop import end_at_the_first, stop_requested
end_at_the_first()
try:
    if sys.argv[1] == "requested":
        with stop_requested() as stop:
            os.kill(os.getpid(), signal.SIGINT)
            stop.wait()
    else:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
finally:
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), number)
        print(signal.getsignal(number).name, flush=True)
"""


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_sets_the_event_inside_the_block_only(number):
    before = signal.getsignal(number)
    with stop_requested() as stop:
        assert not stop.is_set()
        os.kill(os.getpid(), number)
        assert stop.wait(60)
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("first", ["requested", "raised"])
def test_those_behind_the_first_spoil_no_orderly_end(first):
    done = subprocess.run([sys.executable, "-c", TWICE, first], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "SIG_IGN\nSIG_IGN\n"  # which lasts when Python gives up its handlers, before it ends
    assert done.returncode == (0 if first == "requested" else -signal.SIGINT)
    assert ("KeyboardInterrupt" in done.stderr) == (first == "raised")
