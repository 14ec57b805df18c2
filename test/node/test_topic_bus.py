"""The bus of topics: what it writes and reads of messages, and two of its ends through the middleware."""

import can
import pytest

pytest.importorskip("rclpy", reason="installed without ROS")
pytest.importorskip("can_msgs", reason="can_msgs is not installed: pip has no wheel of it, a ROS installation does")

from can_msgs.msg import Frame

from sim_node.node.topic_bus import read, written

MESSAGES = [
    can.Message(timestamp=12.5, arbitration_id=0x123, is_extended_id=False, data=b"\1\2\3"),
    can.Message(timestamp=1e9, arbitration_id=0x1ABCDEF0, data=bytes(8)),
    can.Message(timestamp=0.25, arbitration_id=7, is_extended_id=False, is_remote_frame=True, dlc=4),
    can.Message(timestamp=0.25, arbitration_id=7, is_extended_id=False, is_error_frame=True),
]


@pytest.mark.parametrize("message", MESSAGES, ids=["classic", "extended", "remote", "error"])
def test_what_is_written_reads_back(message):
    again = read(written(message))
    assert again.equals(message, timestamp_delta=1e-6, check_direction=False)


def test_one_without_a_stamp_has_that_of_its_arrival():
    assert read(Frame(id=1, dlc=2)).timestamp > 1e9


def test_both_ends_meet_by_python_can_s_name(ros_domain):
    """The plant's end publishes to_can_bus, and whoever remaps the topics is the other end."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from sim_node.node.process import spinning

    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("peer", context=context)
    publisher = node.create_publisher(Frame, "/can0/from_can_bus", 10)
    node.create_subscription(Frame, "/can0/to_can_bus", publisher.publish, 10)  # an echo
    try:
        with spinning(node), can.Bus(interface="can_msgs", channel="/can0") as bus:
            assert bus.channel_info == "topics /can0/to_can_bus and /can0/from_can_bus"
            bus.set_filters([{"can_id": 0x123, "can_mask": 0x7FF, "extended": False}])
            heard = None
            for _ in range(600):  # until both have been discovered
                bus.send(can.Message(arbitration_id=0x124, is_extended_id=False))
                bus.send(MESSAGES[0])
                heard = bus.recv(timeout=0.1)
                if heard is not None:
                    break
            assert heard.equals(MESSAGES[0], timestamp_delta=1e-6, check_direction=False)
            with pytest.raises(can.CanOperationError, match="classic CAN: up to 8 bytes, no CAN FD"):
                bus.send(can.Message(arbitration_id=1, is_fd=True, data=bytes(12)))
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)
