"""Types of the C extension; see src/ and include/sim_node/ring.h."""
