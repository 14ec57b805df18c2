"""What the language is written in itself."""

# Counts up when any result of the math library changes; keyframes carry it.
MATH_VERSION = 1

# Functions of one f32 that are correctly rounded for every argument, under the names that users write after ``sn.``.
MATH = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "erf"),
)
