"""Python source → typed IR."""

from sim_node.compiler.frontend.lower import lower

__all__ = ["lower"]
