"""Python source → typed IR."""

from sim_node.compiler.frontend.lower import lower, typed

__all__ = ["lower", "typed"]
