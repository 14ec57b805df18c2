"""What can be said of a kernel without changing it."""
