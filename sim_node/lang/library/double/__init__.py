"""The math library's functions of f64: within one unit in the last place, by plain sums and products alone."""
