"""Parts of the compiled loops: cos(2 pi x) and 2^x as polynomials, for float32 and for float64."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from dsgcore.kernels._compiling import compiled

# reassoc lets sums vectorise. No flag may assume that NaN and inf do not occur.
FLAGS = {"reassoc", "contract", "nsz"}

# sin(2 pi x) on |x| <= 1/4 is x p(x^2), highest power first (Remez; largest error 5.9e-7 and 9.0e-17).
SINE = (
    -0.690935882397582736,
    3.81699742832540929,
    -15.0944716166320077,
    42.0586883053899496,
    -76.7058596474695299,
    81.60524927502629,
    -41.3417022403950826,
    6.28318530717958039,
)
SINE_SINGLE = (-70.993433272077121, 81.3407688876642748, -41.3371423711001088, 6.2831640443024714)
# 2^x on |x| <= 1/2, highest power first (Remez; largest error 7.6e-8 and 2.1e-16).
EXP2 = (
    7.07580345973874683e-9,
    1.02086907912683381e-7,
    1.32154224786355662e-6,
    1.52526572574372635e-5,
    0.000154035304857246796,
    0.00133335582301701555,
    0.00961812910756761348,
    0.0555041086644476832,
    0.24022650695910221,
    0.693147180559949984,
    0.999999999999999994,
)
EXP2_SINGLE = (
    0.00134100053619271438,
    0.00967603635813689162,
    0.0555029729771565846,
    0.240221073743231863,
    0.693147225408746334,
    1.00000007548957048,
)
SINE_SINGLE = tuple(np.float32(c) for c in SINE_SINGLE)
EXP2_SINGLE = tuple(np.float32(c) for c in EXP2_SINGLE)


def _sine_coefficients(x):
    return SINE_SINGLE if x.dtype == np.float32 else SINE


@overload(_sine_coefficients)
def _compiled_sine_coefficients(x):
    return (lambda x: SINE_SINGLE) if x == types.float32 else (lambda x: SINE)


def _exp2_coefficients(x):
    return EXP2_SINGLE if x.dtype == np.float32 else EXP2


@overload(_exp2_coefficients)
def _compiled_exp2_coefficients(x):
    return (lambda x: EXP2_SINGLE) if x == types.float32 else (lambda x: EXP2)


def _lowest_exponent(x):
    return np.float32(-127) if x.dtype == np.float32 else np.float64(-1023)


@overload(_lowest_exponent)
def _compiled_lowest_exponent(x):
    return (lambda x: np.float32(-127)) if x == types.float32 else (lambda x: -1023.0)


@intrinsic
def _float_of_bits(typing_context, bits, like):
    """Return the float of `like`'s type whose bits are the low bits of an integer."""

    def generate(context, builder, signature, arguments):
        bits = arguments[0] if like.bitwidth == 64 else builder.trunc(arguments[0], ir.IntType(like.bitwidth))
        return builder.bitcast(bits, context.get_value_type(like))

    return like(types.int64, like), generate


def _power_of_two(n):
    """Return 2^n for an integral n >= _lowest_exponent(n), where it is 0."""
    return n.dtype.type(2) ** n if n > _lowest_exponent(n) else n.dtype.type(0)


@overload(_power_of_two, jit_options={"fastmath": FLAGS})
def _compiled_power_of_two(n):
    # The biased exponent is shifted into place, through int32, to which every vector unit can convert.
    shift = np.int64(23 if n == types.float32 else 52)
    return lambda n: _float_of_bits(np.int64(np.int32(n - _lowest_exponent(n))) << shift, n)


@compiled(fastmath=FLAGS, forceinline=True)
def _polynomial(x, coefficients):
    total = coefficients[0]
    for c in coefficients[1:]:
        total = total * x + c
    return total


@compiled(fastmath=FLAGS, forceinline=True)
def cosine(turns, quarter):
    """Return cos(2 pi turns) = sin(2 pi (1/4 - |turns|)) for |turns| <= 1/2, after removing whole turns."""
    x = quarter - abs(turns - np.rint(turns))
    return x * _polynomial(x * x, _sine_coefficients(x))


@compiled(fastmath=FLAGS, forceinline=True)
def exp2(x):
    """Return 2^x for x <= 0, and 0 below the normal range."""
    lowest = _lowest_exponent(x)
    x = lowest if x < lowest else x  # NaN stays NaN
    n = np.rint(x)
    return _polynomial(x - n, _exp2_coefficients(x)) * _power_of_two(n if n > lowest else lowest)  # NaN is replaced


@compiled(forceinline=True)
def rescale(values, factor):
    """Multiply all values in place."""
    for i in range(len(values)):
        values[i] *= factor
