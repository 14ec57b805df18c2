"""Python source → typed IR."""

from sim_node.compiler.frontend.lower import lower, typed
from sim_node.compiler.frontend.signature import signature

__all__ = ["lower", "signature", "typed"]
