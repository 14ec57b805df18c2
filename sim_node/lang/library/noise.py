"""Perlin's gradient noise in 1 to 4 dimensions, periodic noise, and the curl of noise, which is free of divergence.

The lattice, its gradients and the blend are Warp's, so that a seed gives its pictures; a sum runs over the corners of a
cell of the lattice, the first coordinate fastest. Perlin, 2002, "Improving Noise".
"""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, int32, uint32, vec2, vec2i, vec3, vec3i, vec4, vec4i
from sim_node.lang.builtins import cast, floor
from sim_node.lang.func import func
from sim_node.lang.library.stream import advance, rand_init, unit
from sim_node.lang.library.vector import dot, normalize

# What a point's coordinates are multiplied with before their bits are mixed.
_PRIMES = (73856093, 19349663, 53471161, 10000019)
# What the stream is turned by from one field of a curl to the next.
_SECOND, _THIRD = 10019689, 13112221


@func
def blend(t: float32) -> float32:
    """Rise from 0 to 1 with no slope and no curvature at either end."""
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


@func
def blend_slope(t: float32) -> float32:
    """Derivative of ``blend``."""
    return 30.0 * t * t * (t * (t - 2.0) + 1.0)


@func
def mixed(coordinate: int32, prime: uint32) -> uint32:
    """A coordinate as bits that are ready to be mixed with others."""
    return cast(coordinate, uint32) * prime


@func
def gradient_on_line(state: uint32, at: int32) -> float32:
    """Gradient at a point of the line's lattice, from -1 to 1."""
    return 2.0 * unit(advance(mixed(at, _PRIMES[0]) + state)) - 1.0


@func
def gradient(state: uint32, low: Any, high: Any, corner: int32, d: Any) -> Any:
    """Unit gradient at a corner of a cell; the corner's bits say where it is at the high end."""
    far = corner >> (len(d) - 1) != 0
    bits = mixed(high[len(d) - 1] if far else low[len(d) - 1], _PRIMES[len(d) - 1]) + state
    for k in range(len(d) - 1):
        bits ^= mixed(high[k] if corner >> k & 1 != 0 else low[k], _PRIMES[k])
    g = 0.0 * d
    for k in range(len(d)):
        bits = advance(bits)
        g[k] = unit(bits) - 0.5
    return normalize(g)


@func
def distance(d: Any, corner: int32) -> Any:
    """Where the point lies, seen from a corner."""
    away = 1.0 * d
    for k in range(len(d)):
        away[k] = d[k] - float32(corner >> k & 1)
    return away


@func
def weight(t: float32, high: int32) -> float32:
    """How much the corners at one end count."""
    return blend(t) if high != 0 else 1.0 - blend(t)


@func
def weight_slope(t: float32, high: int32) -> float32:
    """Derivative of ``weight``."""
    return blend_slope(t) if high != 0 else -blend_slope(t)


@func
def in_cell(state: uint32, low: Any, high: Any, d: Any) -> float32:
    """Noise at a point of a cell of the lattice: ``d`` is where the point lies between ``low`` and ``high``."""
    total = float32(0.0)
    for corner in range(1 << len(d)):
        share = dot(gradient(state, low, high, corner, d), distance(d, corner))
        for k in range(len(d)):
            share *= weight(d[k], corner >> k & 1)
        total += share
    return total


@func
def gradient_in_cell(state: uint32, low: Any, high: Any, d: Any) -> Any:
    """Derivatives of ``in_cell`` by the point's coordinates."""
    total = 0.0 * d
    for corner in range(1 << len(d)):
        g = gradient(state, low, high, corner, d)
        value = dot(g, distance(d, corner))
        share = float32(1.0)
        for k in range(len(d)):
            share *= weight(d[k], corner >> k & 1)
        total += share * g
        for j in range(len(d)):
            change = value * weight_slope(d[j], corner >> j & 1)
            for k in range(len(d)):
                change *= weight(d[k], corner >> k & 1) if k != j else 1.0
            total[j] += change
    return total


@func
def floors(p: Any) -> Any:
    """Round each component down."""
    low = 1.0 * p
    for k in range(len(p)):
        low[k] = floor(p[k])
    return low


@func
def on_line(state: uint32, low: int32, high: int32, d: float32) -> float32:
    """Noise at a point of a cell of the line."""
    below = d * gradient_on_line(state, low) * (1.0 - blend(d))
    return below + (d - 1.0) * gradient_on_line(state, high) * blend(d)


@func
def noise(state: uint32, x: float32) -> float32:
    """Noise on a line, from -1 to 1; it is 0 at integers."""
    low = int32(floor(x))
    return on_line(state, low, low + 1, x - floor(x))


@func
def noise(state: uint32, xy: vec2) -> float32:
    """Noise in the plane; it is 0 where both coordinates are integers."""
    low = floors(xy)
    return in_cell(state, vec2i(low), vec2i(low) + vec2i(1), xy - low)


@func
def noise(state: uint32, xyz: vec3) -> float32:
    """Noise in space."""
    low = floors(xyz)
    return in_cell(state, vec3i(low), vec3i(low) + vec3i(1), xyz - low)


@func
def noise(state: uint32, xyzt: vec4) -> float32:
    """Noise in space that changes with time."""
    low = floors(xyzt)
    return in_cell(state, vec4i(low), vec4i(low) + vec4i(1), xyzt - low)


@func
def wrapped(x: float32, period: int32) -> int32:
    """The coordinate of the cell in which x lies, in a lattice that repeats below 0 too."""
    return int32(floor(x)) % period


@func
def pnoise(state: uint32, x: float32, px: int32) -> float32:
    """Noise on a line that repeats after px."""
    low = wrapped(x, px)
    return on_line(state, low, (low + 1) % px, x - floor(x))


@func
def pnoise(state: uint32, xy: vec2, px: int32, py: int32) -> float32:
    """Noise in the plane that repeats after px and py."""
    low = vec2i(wrapped(xy.x, px), wrapped(xy.y, py))
    return in_cell(state, low, vec2i((low.x + 1) % px, (low.y + 1) % py), xy - floors(xy))


@func
def pnoise(state: uint32, xyz: vec3, px: int32, py: int32, pz: int32) -> float32:
    """Noise in space that repeats after px, py and pz."""
    low = vec3i(wrapped(xyz.x, px), wrapped(xyz.y, py), wrapped(xyz.z, pz))
    high = vec3i((low.x + 1) % px, (low.y + 1) % py, (low.z + 1) % pz)
    return in_cell(state, low, high, xyz - floors(xyz))


@func
def pnoise(state: uint32, xyzt: vec4, px: int32, py: int32, pz: int32, pt: int32) -> float32:
    """Noise in space and time that repeats after px, py, pz and pt."""
    low = vec4i(wrapped(xyzt.x, px), wrapped(xyzt.y, py), wrapped(xyzt.z, pz), wrapped(xyzt.w, pt))
    high = vec4i((low.x + 1) % px, (low.y + 1) % py, (low.z + 1) % pz, (low.w + 1) % pt)
    return in_cell(state, low, high, xyzt - floors(xyzt))


@func
def curlnoise(state: uint32, xy: vec2, octaves: uint32 = 1, lacunarity: float32 = 2.0, gain: float32 = 0.5) -> vec2:
    """Field in the plane along the lines of equal noise; each octave is finer by lacunarity and weaker by gain."""
    total = vec2()
    frequency, amplitude = float32(1.0), float32(1.0)
    for _ in range(octaves):
        p = frequency * xy
        low = floors(p)
        total += amplitude * gradient_in_cell(state, vec2i(low), vec2i(low) + vec2i(1), p - low)
        amplitude *= gain
        frequency *= lacunarity
    return vec2(-total.y, total.x)


@func
def curl(first: Any, second: Any, third: Any) -> vec3:
    """Curl of a field of three components, given their gradients."""
    return vec3(third.y - second.z, first.z - third.x, second.x - first.y)


@func
def curlnoise(state: uint32, xyz: vec3, octaves: uint32 = 1, lacunarity: float32 = 2.0, gain: float32 = 0.5) -> vec3:
    """Curl of a field of three noises in space."""
    total = vec3()
    frequency, amplitude = float32(1.0), float32(1.0)
    for _ in range(octaves):
        p = frequency * xyz
        low = floors(p)
        near, far = vec3i(low), vec3i(low) + vec3i(1)
        first = gradient_in_cell(state, near, far, p - low)
        state = rand_init(cast(state, int32), _SECOND)
        second = gradient_in_cell(state, near, far, p - low)
        state = rand_init(cast(state, int32), _THIRD)
        third = gradient_in_cell(state, near, far, p - low)
        total += amplitude * curl(first, second, third)
        amplitude *= gain
        frequency *= lacunarity
    return total


@func
def curlnoise(state: uint32, xyzt: vec4, octaves: uint32 = 1, lacunarity: float32 = 2.0, gain: float32 = 0.5) -> vec3:
    """Curl, in space, of a field of three noises that change with time."""
    total = vec3()
    frequency, amplitude = float32(1.0), float32(1.0)
    for _ in range(octaves):
        p = frequency * xyzt
        low = floors(p)
        near, far = vec4i(low), vec4i(low) + vec4i(1)
        first = gradient_in_cell(state, near, far, p - low)
        state = rand_init(cast(state, int32), _SECOND)
        second = gradient_in_cell(state, near, far, p - low)
        state = rand_init(cast(state, int32), _THIRD)
        third = gradient_in_cell(state, near, far, p - low)
        total += amplitude * curl(first, second, third)
        amplitude *= gain
        frequency *= lacunarity
    return total
