"""A peer of the bridge bench: iceoryx2's publish-subscribe by its Python binding, polled, or woken by its events.

Both ends do what a careful user does: samples are loaned and filled in place, and the newest takes the place of one
that was not read. A sample's first 8 bytes carry the time just before it is sent.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from typing import Any

import numpy as np

from sim_node.cli.benches.absence import absence
from sim_node.cli.benches.pace import paced


def main(role: str, service: str, nbytes: int, event: bool, last: int) -> None:
    """Publish so many samples when a line comes, or read until the last; print ``ready``, and ages in ns."""
    try:
        import iceoryx2
    except ImportError as error:
        print(json.dumps(absence(error)))
        return
    iceoryx2.set_log_level(iceoryx2.LogLevel.Error)
    name = iceoryx2.ServiceName.new(service)
    node = iceoryx2.NodeBuilder.new().create(iceoryx2.ServiceType.Ipc)
    samples = (
        node.service_builder(name)
        .publish_subscribe(iceoryx2.Slice[ctypes.c_float])
        .max_subscribers(1)
        .subscriber_max_buffer_size(1)
        .subscriber_max_borrowed_samples(1)
        .enable_safe_overflow(True)
        .open_or_create()
    )
    events = node.service_builder(name).event().open_or_create()
    if role == "publish":
        publish(samples, events if event else None, nbytes, last)
    else:
        subscribe(iceoryx2, samples, events if event else None, last)


def publish(samples: Any, events: Any, nbytes: int, last: int) -> None:
    """Publish at 1 kHz, and notify where there are events."""
    publisher = samples.publisher_builder().initial_max_slice_len(nbytes // 4).max_loaned_samples(1).create()
    notifier = events.notifier_builder().create() if events is not None else None
    print("ready", flush=True)
    sys.stdin.readline()
    for step in paced(last):
        loaned = publisher.loan_slice_uninit(nbytes // 4)
        head = (ctypes.c_int64 * 2).from_address(loaned.payload_ptr)
        head[1] = step
        sample = loaned.assume_init()
        head[0] = time.monotonic_ns()
        sample.send()
        if notifier is not None:
            notifier.notify()
    sys.stdin.read()  # the samples are this process's


def subscribe(iceoryx2: Any, samples: Any, events: Any, last: int) -> None:
    """Take samples until the last one."""
    subscriber = samples.subscriber_builder().create()
    listener = events.listener_builder().create() if events is not None else None
    patience = iceoryx2.Duration.from_secs(2)
    ages, step = [], 0
    print("ready", flush=True)
    while step < last:
        if listener is not None and not listener.timed_wait(patience):
            break
        sample = subscriber.receive()
        if sample is None:
            continue
        state = np.frombuffer(sample.payload().as_memory_view(), np.float32)
        now = time.monotonic_ns()
        begin, step = (int(word) for word in state[:4].view(np.int64))
        ages.append(now - begin)
        del state
        sample.delete()
    print(json.dumps({"call": ages}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "event", int(sys.argv[5]))
