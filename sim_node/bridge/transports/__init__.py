"""Where a ring's memory comes from: one module a transport."""
