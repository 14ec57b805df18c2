"""What connects plants with the world beside ROS: CAN buses, as clients of the ring."""
