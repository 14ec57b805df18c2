"""``python -m sim_node.cli``: the command sim-node."""

from sim_node.cli.main import main

main()
