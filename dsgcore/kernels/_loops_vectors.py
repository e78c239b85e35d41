"""Vectors of numbers in compiled loops. With them a loop can keep a block of a matrix product in registers.

The operations of vectors are +, - and *, and the functions below. They work number by number.
"""

import operator

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from dsgcore.kernels._compiling import IS_COMPILED, compiled
from dsgcore.kernels._loops_polynomials import EXP2, EXP2_SINGLE, SINE, SINE_SINGLE

VECTOR_BYTES = 32
# Sums keep their order, so that a point's value does not depend on its place among others.
FLAGS_IN_ORDER = {"contract", "nsz"}
# The loops use vectors on processors with AVX2 and FMA, where they were measured. With AVX-512 they do not: there OpenBLAS
# has a product of small matrices that needs no copies.
_cpu = get_host_cpu_features()
IS_USED = bool(IS_COMPILED and _cpu.get("avx2") and _cpu.get("fma") and not _cpu.get("avx512f"))


class Vector(types.Type):
    """Type of a vector of 32 bytes: eight numbers in float32, four in float64."""

    def __init__(self, dtype):
        self.dtype, self.lanes = dtype, VECTOR_BYTES * 8 // dtype.bitwidth
        super().__init__(f"Vector({dtype})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        number = ir.FloatType() if vector.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, vector, ir.VectorType(number, vector.lanes))


def _define(operation, instruction):
    """Define an operation of two vectors, number by number."""

    @type_callable(operation)
    def type_of(context):
        return lambda a, b: a if isinstance(a, Vector) and a == b else None

    @lower_builtin(operation, Vector, Vector)
    def generate(context, builder, signature, arguments):
        return getattr(builder, instruction)(*arguments)


for _operation, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _define(_operation, _instruction)


@intrinsic
def lanes_for(typing_context, array):
    """Return how many of an array's numbers a vector has, as a constant of the compiler."""

    def generate(context, builder, signature, arguments):
        return context.get_constant(types.intp, Vector(array.dtype).lanes)

    return types.intp(array), generate


@intrinsic
def load(typing_context, array, start):
    """Return the vector that begins at array[start]; array (n,) is C-contiguous and long enough."""

    def generate(context, builder, signature, arguments):
        first = builder.gep(context.make_array(array)(context, builder, arguments[0]).data, [arguments[1]])
        kind = context.get_value_type(Vector(array.dtype))
        return builder.load(builder.bitcast(first, kind.as_pointer()), align=array.dtype.bitwidth // 8)

    return Vector(array.dtype)(array, types.intp), generate


@intrinsic
def store(typing_context, vector, array, start):
    """Write a vector's numbers to array[start], array[start + 1], ...; array (n,) is C-contiguous and long enough."""

    def generate(context, builder, signature, arguments):
        written, to, at = arguments
        first = builder.gep(context.make_array(array)(context, builder, to).data, [at])
        builder.store(written, builder.bitcast(first, written.type.as_pointer()), align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(vector, array, types.intp), generate


def _places(indices):
    return ir.Constant(ir.VectorType(ir.IntType(32), len(indices)), indices)


def _repeated(context, builder, number, vector):
    nothing = ir.Constant(context.get_value_type(vector), ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, nothing, _places([0] * vector.lanes))


@intrinsic
def everywhere(typing_context, x):
    """Return the vector of which every number is x."""

    def generate(context, builder, signature, arguments):
        return _repeated(context, builder, arguments[0], Vector(x))

    return Vector(x)(x), generate


@intrinsic
def sum_of(typing_context, vector):
    """Return the sum of a vector's numbers, added by halves."""

    def generate(context, builder, signature, arguments):
        (sums,), n = arguments, vector.lanes
        while n > 1:
            n //= 2
            upper = builder.shuffle_vector(sums, sums, _places([(k + n) % vector.lanes for k in range(vector.lanes)]))
            sums = builder.fadd(sums, upper)
        return builder.extract_element(sums, ir.Constant(ir.IntType(32), 0))

    return vector.dtype(vector), generate


def _chosen(comparison):
    """Return a function of two vectors that takes of each two numbers the one for which `a comparison b` is true."""

    @intrinsic
    def function(typing_context, a, b):
        def generate(context, builder, signature, arguments):
            return builder.select(builder.fcmp_ordered(comparison, *arguments), *arguments)

        return a(a, b), generate

    return function


lesser, greater = _chosen("<"), _chosen(">")


def _rearranged(places_of):
    """Return a function of two vectors that takes their numbers, first those of the first one, from these places."""

    @intrinsic
    def function(typing_context, a, b):
        def generate(context, builder, signature, arguments):
            return builder.shuffle_vector(*arguments, _places(places_of(a.lanes)))

        return a(a, b), generate

    return function


# The second vector's first number, and then the first one's without the last.
_pushed_on = _rearranged(lambda n: [n, *range(n - 1)])
_turned_by_half = _rearranged(lambda n: [(k + n // 2) % n for k in range(n)])
_turned_by_quarter = _rearranged(lambda n: [(k + n // 4) % n for k in range(n)])
_turned_by_eighth = _rearranged(lambda n: [(k + max(n // 8, 1)) % n for k in range(n)])


@compiled(forceinline=True)
def least_everywhere(vector):
    """Return the vector of which every number is the smallest one of a vector."""
    vector = lesser(vector, _turned_by_half(vector, vector))
    vector = lesser(vector, _turned_by_quarter(vector, vector))
    return lesser(vector, _turned_by_eighth(vector, vector))


@compiled(forceinline=True)
def with_number(ascending, x):
    """Return ascending numbers with one more, which is every number of x, and without the largest."""
    return lesser(ascending, greater(_pushed_on(ascending, x), x))


@intrinsic
def number_at(typing_context, vector, place):
    """Return the vector's number at a place."""

    def generate(context, builder, signature, arguments):
        return builder.extract_element(*arguments)

    return vector.dtype(vector, types.intp), generate


def _of_each(name):
    """Return a function of a vector that applies LLVM's function of this name to each number."""

    @intrinsic
    def function(typing_context, vector):
        def generate(context, builder, signature, arguments):
            full, kind = f"llvm.{name}.v{vector.lanes}f{vector.dtype.bitwidth}", arguments[0].type
            known = builder.module.globals.get(full)
            return builder.call(known or ir.Function(builder.module, ir.FunctionType(kind, [kind]), full), arguments)

        return vector(vector), generate

    return function


_nearest, _absolute = _of_each("rint"), _of_each("fabs")


def _at_least(number_of):
    """Return a function of a vector that replaces smaller numbers than its precision's number; NaN stays NaN."""

    @intrinsic
    def function(typing_context, vector):
        def generate(context, builder, signature, arguments):
            (x,), least = arguments, _constants(arguments[0].type, number_of(vector))
            return builder.select(builder.fcmp_ordered("<", x, least), least, x)

        return vector(vector), generate

    return function


def _constants(kind, number):
    return ir.Constant(kind, [float(number)] * kind.count)


def _lowest(vector):
    """Return the exponent below the normal range."""
    return -127 if vector.dtype == types.float32 else -1023


not_negative = _at_least(lambda vector: 0)
_not_too_low = _at_least(_lowest)


def _polynomial(single, double):
    """Return a function of a vector: the polynomial for its precision, highest power first."""

    @intrinsic
    def function(typing_context, vector):
        def generate(context, builder, signature, arguments):
            (x,), coefficients = arguments, single if vector.dtype == types.float32 else double
            total = _constants(x.type, coefficients[0])
            for c in coefficients[1:]:
                total = builder.fadd(builder.fmul(total, x), _constants(x.type, c))
            return total

        return vector(vector), generate

    return function


_sine_factors = _polynomial(SINE_SINGLE, SINE)  # of x^2 for |x| <= 1/4: sin(2 pi x) / x
_exp2_near_0 = _polynomial(EXP2_SINGLE, EXP2)  # 2^x for |x| <= 1/2


@intrinsic
def _powers_of_two(typing_context, vector):
    """Return the vector of 2^n for whole numbers n; 0 below the normal range, and for NaN."""

    def generate(context, builder, signature, arguments):
        (n,), lowest = arguments, _constants(arguments[0].type, _lowest(vector))
        exponents = builder.fsub(builder.select(builder.fcmp_ordered(">", n, lowest), n, lowest), lowest)
        # The biased exponent is shifted into place, through int32, to which every vector unit can convert.
        bits, shift = (32, 23) if vector.dtype == types.float32 else (64, 52)
        whole = builder.fptosi(exponents, ir.VectorType(ir.IntType(32), vector.lanes))
        kind = ir.VectorType(ir.IntType(bits), vector.lanes)
        whole = builder.sext(whole, kind) if bits == 64 else whole
        return builder.bitcast(builder.shl(whole, ir.Constant(kind, [shift] * vector.lanes)), n.type)

    return vector(vector), generate


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def cosines(turns, quarter):
    """Return the vector of cos(2 pi turns) as `cosine` does; every number of `quarter` is 1/4."""
    x = quarter - _absolute(turns - _nearest(turns))
    return x * _sine_factors(x * x)


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def waves(turns, quarter):
    """Return the vectors of cos(2 pi turns) and of sin(2 pi turns)."""
    turns = turns - _nearest(turns)
    return cosines(turns, quarter), cosines(turns - quarter, quarter)


@compiled(fastmath=FLAGS_IN_ORDER, forceinline=True)
def powers(x):
    """Return the vector of 2^x for x <= 0, as `exp2` does; 0 below the normal range."""
    x = _not_too_low(x)
    n = _nearest(x)
    return _exp2_near_0(x - n) * _powers_of_two(n)
