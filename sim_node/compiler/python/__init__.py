"""Kernels as code of CPython itself: the device ``python``."""
