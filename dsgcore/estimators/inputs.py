"""What all estimators share: a fit that succeeds or changes nothing, seeds, labels, points, a kernel, and the paper's values.

Points are in an array, in out-of-core `Rows`, or in Dask collections.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from inspect import signature
from os import PathLike
from typing import Any, ClassVar, Literal, Self, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from dsgcore.core.documented import described
from dsgcore.core.errors import DSGError
from dsgcore.core.parameters import (
    Choice,
    Parameter,
    ParameterError,
    Real,
    check_names,
    parameter_like,
    parameters_of,
    quoted,
)
from dsgcore.core.sampling import MAX_SEED, evenly_spread
from dsgcore.data import DataError
from dsgcore.data.parts import Rows
from dsgcore.data.reading.features import SAMPLE
from dsgcore.data.reading.labels import known_order
from dsgcore.data.reading.unlabeled import is_minus_one, labels_given
from dsgcore.data.rows import is_dask
from dsgcore.kernels import KERNELS, Gaussian, Kernel
from dsgcore.kernels.kernels import check_sizes, check_unmasked
from dsgcore.problems.as_in_paper import AS_IN_PAPER
from dsgcore.solver.model import FEW_POINTS, Expansion, points_at_a_time
from dsgcore.solver.problem import UNLABELED
from dsgcore.solver.stopping import POINTS

# Up to this many labeled rows are read along with the visited ones. If there are more, they are read in a separate
# pass.
MOST_LABELED = 1_000_000
# Points at which a threshold is found, and most labeled points for it: values at more take time, and hardly move it.
POINTS_CUT, LABELED_CUT = 1000, 8000
# float32 represents all whole numbers up to here.
EXACT_IN_FLOAT32 = 2.0**24
# Names that scikit-learn gives to the number and the names of columns.
COLUMNS = ("n_features_in_", "feature_names_in_")
Method = TypeVar("Method", bound=Callable[..., Any])
SIGMA = parameter_like(Gaussian, "sigma")
_KERNEL = Choice("kernel", "gaussian", options=tuple(KERNELS))


def all_or_nothing(fit: Method) -> Method:
    """Make a method that learns set what it has learned all at once, after it has succeeded.

    It works on a copy of the estimator, so that one that raises or is stopped has changed nothing. `fit` begins without what
    an earlier call has learned: the attributes whose names end with an underscore. Arguments that do not suit are reported
    in the name of the estimator's own class.
    """
    arguments = signature(fit)

    @wraps(fit)
    def learn(self: Any, *args: Any, **given: Any) -> Any:
        try:
            arguments.bind(self, *args, **given)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}.{fit.__name__}: {error}") from None
        learner = object.__new__(type(self))
        is_new = fit.__name__ == "fit"
        vars(learner).update(
            {k: v for k, v in vars(self).items() if not (is_new and k.endswith("_") and not k.startswith("_"))}
        )
        fit(learner, *args, **given)
        self.__dict__ = vars(learner)
        return self

    return cast(Method, learn)


def columns_of(estimator: Any) -> dict[str, Any]:
    """Return what a fitted estimator knows of its columns: their number, and their names if they had any."""
    return {name: getattr(estimator, name) for name in COLUMNS if hasattr(estimator, name)}


def seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed for `random_state`: the int itself, a draw from the generator, or a random one for None."""
    if isinstance(random_state, int | np.integer) and 0 <= random_state <= MAX_SEED:
        return int(random_state)
    try:
        generator = check_random_state(random_state)
    except ValueError:
        raise ParameterError(
            f"random_state must be a whole number between 0 and {2**32 - 1}, a RandomState or None, got {quoted(random_state)}"
        ) from None
    return int(generator.randint(2**31))


def float_types(X: Any) -> list[type[np.floating]]:
    """Return the types for validated points; the first one is for points of any other type.

    That is float32, unless the points hold whole numbers beyond 2^24, which float32 rounds.
    """
    types: list[type[np.floating]] = [np.float32, np.float64]
    if getattr(X, "dtype", None) in (np.float32, np.float64):
        return types
    is_table = hasattr(X, "dtypes") and len(getattr(X, "shape", ())) == 2
    if is_table and any(getattr(dtype, "kind", "O") not in "iu" for dtype in X.dtypes):
        return types  # it becomes float64, or holds no numbers
    try:
        values = np.asarray(X)
        values = values.astype(float) if values.dtype == object and values.ndim == 2 else values
    except (TypeError, ValueError):  # no numbers, or rows of different lengths: the validation has its own sentence
        return types
    is_wide = values.dtype.kind in "iuf" and values.dtype.itemsize >= 4 and values.size > 0
    is_rounded = is_wide and max(float(values.max()), -float(values.min())) > EXACT_IN_FLOAT32
    return types[::-1] if is_rounded else types


def encode(y: Any, classes: NDArray | None = None, *, is_ordered: bool = False) -> tuple[NDArray, NDArray]:
    """Return the classes (k,), and each label's index among them (n,), -1 for unlabeled.

    Missing labels, and -1 as a number or as text, are unlabeled (see `dsgcore.data.reading.unlabeled.labels_given`).
    The classes are the sorted labels. With `is_ordered`, pandas' ordered categories keep their order. Raise `DSGError`
    if labels are no classes (for instance continuous numbers), or if one is not among `classes`.
    """
    given = labels_given(y, has_minus_one=classes is not None and bool(is_minus_one(classes).any()))
    order = classes if classes is not None or not is_ordered else given.order
    if order is None:
        order, known = np.unique(given.values, return_inverse=True)
    else:
        check_same_kind(given.values, order)
        labels, sought = given.values, order
        if {labels.dtype.kind, sought.dtype.kind} == {"i", "u"}:  # NumPy would compare them as floats
            labels, sought = labels.astype(object), sought.astype(object)
        unknown = ~np.isin(labels, sought)
        if unknown.any():
            wrong = given.values[int(np.argmax(unknown))]
            raise DSGError(f"y must hold the classes {_listed(order)}, or -1 for unlabeled points, got {wrong!s}")
        by_size = np.argsort(sought)
        known = by_size[np.searchsorted(sought[by_size], labels)]
    # In the smallest type, because there may be very many points.
    codes = np.full(len(given.is_labeled), UNLABELED, dtype=np.min_scalar_type(-max(1, len(order))))
    codes[given.is_labeled] = known
    return order, codes


def warn_of_alphabet(y: Any, classes: NDArray) -> None:
    """Warn if three or more words have the alphabet's order although nobody says so, unless that is a known order of them.

    Single letters, such as grades, have it.
    """
    is_of_words = classes.dtype.kind == "U" and max(map(len, classes)) > 1
    if not is_of_words or len(classes) <= 2 or labels_given(y).order is not None:
        return
    if known_order(names := classes.tolist()) != names:
        warnings.warn(
            f"The classes are ordered by the alphabet, {' < '.join(map(repr, names[:4]))}{' < ...' * (len(names) > 4)}: "
            "pass pandas.Categorical(y, categories=[...], ordered=True) for another order.",
            UserWarning,
            stacklevel=5,
        )


def check_same_kind(labels: NDArray, classes: NDArray) -> None:
    """Raise `DSGError` if labels are numbers and the classes text, or of other kinds that are never equal."""
    kinds = []  # labels of different kinds are never the same
    for values in (labels, classes):
        is_text = values.dtype.kind in "US" or (
            values.dtype.kind == "O" and any(isinstance(one, str) for one in values)
        )
        kinds.append("text" if is_text else "dates" if values.dtype.kind in "mM" else "numbers")
    if len(labels) and len(classes) and kinds[0] != kinds[1]:
        raise DSGError(
            f"y must hold {kinds[1]} as the classes {_listed(dict.fromkeys(classes))} are, got {kinds[0]}, such as "
            f"{labels[:1].tolist()[0]!r}: "
            "give labels as they were in fit"
        )


def known_classes(given: ArrayLike | None, earlier: NDArray | None, y: object = None, *, is_sorted: bool) -> NDArray:
    """Return the classes (k,) for a call of `partial_fit`: those of the first call, sorted or in the given order.

    -1 does not count, unless it is a class in `y`. So ``numpy.unique(y)`` works for labels with unlabeled points.
    Raise `DSGError` if the first call lacks the classes, or if a later call gives others than the `earlier` ones.
    """
    if given is None:
        if earlier is None:
            raise DSGError("classes must be passed on the first call to partial_fit")
        return earlier
    labels = labels_given(given, has_minus_one=isinstance(y, np.ma.MaskedArray)).values
    if is_sorted:
        labels = np.unique(labels)
    if len(set(labels.tolist())) < len(labels):
        raise DSGError(f"classes must differ from each other, got {_listed(labels)}")
    if earlier is not None and not np.array_equal(labels, earlier):
        raise DSGError(f"classes must be those of the first call, {_listed(earlier)}, got {_listed(labels)}")
    return labels


def _listed(classes: Iterable[object]) -> str:
    return ", ".join(str(label) for label in classes)


def labeled_rows(codes: NDArray, most: int) -> NDArray:
    """Return the labeled rows, ascending, or as many of them as `most`, evenly spread, with each class's first one."""
    labeled = np.flatnonzero(codes != UNLABELED)
    firsts = labeled[np.unique(codes[labeled], return_index=True)[1]]
    return np.union1d(labeled[evenly_spread(len(labeled), most)], firsts)


def validated(estimator: Any, X: Any, y: NDArray, *, reset: bool = True, dtype: Any = None) -> tuple[Any, NDArray]:
    """Return points and codes of labels as scikit-learn's `validate_data` does. It reads no point of `Rows`."""
    if isinstance(X, np.ma.MaskedArray):
        check_unmasked(X)
    if not isinstance(X, Rows):
        return validate_data(estimator, X, y, reset=reset, dtype=dtype or float_types(X))
    if len(y) != len(X):
        raise DataError(f"y must have a label for each of {len(X)} rows (-1: unlabeled), got {len(y)}")
    if not reset:
        if estimator.n_features_in_ != X.shape[1]:
            raise DataError(f"X must have {estimator.n_features_in_} columns as at the first call, got {X.shape[1]}")
        validate_data(estimator, _as_table(np.zeros((1, X.shape[1])), X.names), reset=False)
        return X, y
    estimator.n_features_in_ = X.shape[1]
    vars(estimator).pop("feature_names_in_", None)
    if X.names is not None:
        estimator.feature_names_in_ = np.array(X.names, dtype=object)
    return X, y


def points_and_classes(
    estimator: Any, X: Any, y: Any, *, is_ordered: bool = False, is_copied: bool = False
) -> tuple[NDArray, NDArray, NDArray]:
    """Return validated points (n, d) in float64 whose squares do not overflow, the classes (k,), and the labels' codes (n,)."""
    given, (classes, codes) = in_memory(X), encode(y, is_ordered=is_ordered)
    if is_ordered:
        warn_of_alphabet(y, classes)
    points, codes = validate_data(estimator, given, codes, dtype=np.float64, copy=is_copied)
    check_sizes(points)
    return points, classes, codes


def validated_points(estimator: Any, X: Any, dtype: Any = None) -> NDArray:
    """Return the points (n, d) at which a fitted estimator is asked. Their columns must be those of its fit."""
    return validate_data(estimator, in_memory(X), reset=False, dtype=dtype or float_types(X))


def in_memory(X: Any) -> Any:
    """Return `Rows` as an array, or as a table if its columns have names; anything else as it is. Refuse what is no points."""
    if isinstance(X, np.ma.MaskedArray):
        check_unmasked(X)
    if isinstance(X, str | PathLike):
        raise DataError(
            f"X must hold points, got the path {str(X)!r}: give dsgcore.data.rows_of(path, ...)[0] (gaps get its own means)"
        )
    return _as_table(X[:], X.names) if isinstance(X, Rows) else X


def _as_table(points: NDArray, names: tuple[str, ...] | None) -> Any:
    """Return points as a table if their columns have names: scikit-learn then compares the names with those of the fit."""
    return points if names is None else pd.DataFrame(points, columns=list(names), copy=False)


def taken(X: Any, rows: NDArray) -> Any:
    """Return the given rows as an array, or as `Rows` without reading a point."""
    return X.taken(rows) if isinstance(X, Rows) else X[rows]


def read_ahead(
    X: Rows, labels: NDArray, batch: Callable[[int], Mapping[str, NDArray]], iterations: Iterable[int]
) -> None:
    """Read in one pass all rows that a run needs: visited rows, labeled rows, and samples for its checks."""
    visited = [np.concatenate(list(batch(t).values())) for t in iterations]
    labeled = np.flatnonzero(labels != UNLABELED)
    seen = [
        np.arange(min(len(X), FEW_POINTS)),
        *(evenly_spread(len(X), n) for n in (POINTS_CUT, POINTS, SAMPLE)),
    ]
    X.read_ahead(np.concatenate([*visited, *seen, labeled[: MOST_LABELED * (len(labeled) <= MOST_LABELED)]]))


@dataclass
class TrainingValues:
    """A model's values at training points `X`, each computed once. `values` are those known, at ascending `rows`."""

    model: Expansion
    X: Any
    rows: NDArray
    values: NDArray

    def at(self, rows: NDArray) -> NDArray:
        """Return the values at ascending, different `rows`, of shape (len(rows),). Evaluates in blocks of bounded size."""
        new = np.setdiff1d(rows, self.rows, assume_unique=True)
        if len(new):
            size = points_at_a_time(self.model.d)
            pieces = self.X.pieces(new, size) if isinstance(self.X, Rows) else [self.X[new]]
            known = np.concatenate([self.rows, new])
            order = np.argsort(known, kind="stable")
            values = np.concatenate([self.values, *map(self.model.evaluate, pieces)])
            self.rows, self.values = known[order], values[order]
        return self.values[np.searchsorted(self.rows, rows)]


def over_partitions(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Make a method of (self, X), which returns values for each row, one of many rows: pieces of `Rows`, parts of Dask.

    It stays lazy on a Dask collection. For a Dask Array it returns a Dask Array. For a DataFrame it returns a Series, or a
    DataFrame if there are several values per row.
    """

    @wraps(method)
    def mapped(self: Any, X: Any) -> Any:
        if isinstance(X, Rows):
            pieces = X.pieces(np.arange(len(X)), points_at_a_time(X.shape[1]))
            return np.concatenate([method(self, _as_table(piece, X.names)) for piece in pieces])
        if not is_dask(X):
            return method(self, X)
        one = partial(method, self)
        if hasattr(X, "columns"):
            return X.map_partitions(_with_index, one, meta=_with_index(X._meta, one))
        like, rows = one(np.zeros((1, X.shape[1]), dtype=X.dtype)), X.rechunk({1: -1})
        shape = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (rows.chunks[0], like.shape[1:])}
        return rows.map_blocks(one, dtype=like.dtype, meta=like[:0], **shape)

    return mapped


def _with_index(part: Any, one: Callable[[Any], Any]) -> Any:
    """Return a partition's values as a table; those of no row have the type of a row of zeros."""
    points = part if len(part) else pd.DataFrame(np.zeros((1, part.shape[1])), columns=part.columns)
    values = one(points)[: len(part)]
    return (pd.Series if values.ndim == 1 else pd.DataFrame)(values, index=part.index)


@dataclass(eq=False, repr=False, kw_only=True)
class KernelParameters:
    """Kernel parameters of an estimator: the kernel's name, and the parameters of all kernels.

    Parameters
    ----------
    kernel
        The kernel. The orthogonal Gaussian is the Gaussian with random features that cost less if d is several
        hundred or more. 'lm', if available, uses the coordinates themselves as features.
    sigma
        Inverse bandwidth of the Gaussian kernel exp(-sigma ||x - x'||^2) and of the Laplacian kernel exp(-sigma ||x -
        x'||_1). For the dot product kernel (sigma ⟨x, x'⟩)^power it is a scale. 'scale' is 1 / (n_features_in_ *
        X.var()) for the Gaussian kernel, 1 / (n_features_in_ * X.std()) for the Laplacian kernel, and 1 / mean ||x||^2
        for the dot product kernel. TSGS3VM takes sqrt(n / 20,000) times that number for the Gaussian kernel, at most
        twice, if there are n > 20,000 labels.
    length
        Length scale of the Matérn kernel. 'scale' is sqrt(n_features_in_ * X.var()).
    nu
        Smoothness of the Matérn kernel.
    power
        Degree of the dot product kernel.
    """

    kernels: ClassVar[tuple[str, ...]] = tuple(KERNELS)

    kernel: str = described("gaussian", "one of {cls.kernels}", kw_only=False)
    sigma: float | Literal["scale"] = described("scale", f"{SIGMA.allowed()}, or 'scale'")
    length: float | Literal["scale"] = described("scale", f"{SIGMA.allowed()}, or 'scale'")
    nu: Literal["1/2", "3/2", "5/2"] = described("3/2", "one of '1/2', '3/2', '5/2'")
    power: Literal[1, 3, 5, "1", "3", "5"] = described(3, "1, 3 or 5")


def width(parameter: Parameter, value: object, X: NDArray, kernel: str = "gaussian") -> float:
    """Return a kernel's sigma or length, checked; "scale" becomes a number that depends on the points X (n, d).

    The kernel's own parameter gives the range. Raise `ParameterError` if a value or "scale" is out of it.
    """
    if not isinstance(value, str):
        return parameter.check(value)
    if value != "scale":
        raise ParameterError(f"{parameter.name} must be a positive number or 'scale', got {value!r}")
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        d = X.shape[1]
        if kernel == "laplacian":
            scaled = float(1.0 / (d * X.std(dtype=float)))
        elif kernel == "dot_product":
            scaled = float(len(X) / np.sum(np.square(X, dtype=float)))
        elif parameter.name == "length":
            scaled = float((d * X.var(dtype=float)) ** 0.5)
        else:
            scaled = float(1.0 / (d * X.var(dtype=float)))
    # the other branch squares the values, which would overflow
    of_no_spread = 0.0 if parameter.name == "length" else np.inf
    if scaled == of_no_spread and X.min() == X.max():  # all coordinates are the same number: any width will do
        scaled = 1.0
    assert isinstance(parameter, Real)
    if not parameter.low <= scaled <= parameter.high:
        raise ParameterError(
            f"{parameter.name}='scale' is {scaled:.3g} for these points, but must be {parameter.allowed()}: scale them "
            "(StandardScaler; of a file rows_of(path, label, scaling='standard'), or dsg-lab fit)"
        )
    return scaled


def make_kernel(estimator: Any, X: NDArray, by_labels: float = 1.0) -> Kernel:
    """Return an estimator's kernel, from its checked parameters. "scale" depends on the points X (n, d).

    `by_labels` is the factor of a Gaussian kernel's "scale" that suits the number of labels.
    """
    name = _KERNEL.check(estimator.kernel)
    kind: type = KERNELS[name]
    given = {}
    for p in parameters_of(kind):
        value = getattr(estimator, p.name)
        # power=3 is accepted like "3"
        given[p.name] = p.check(str(value)) if isinstance(p, Choice) else width(p, value, X, name)
        if value == "scale" and issubclass(kind, Gaussian) and isinstance(p, Real):
            given[p.name] = min(given[p.name] * by_labels, p.high)
    return kind(**given)


class EstimatorBase(BaseEstimator):
    """scikit-learn's base class of estimators, whose error for a misspelled parameter begins with similar names."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, also those of a part: `part__name`; return the estimator."""
        check_names(
            (name.partition("__")[0] for name in params), self._get_param_names(), type(self).__name__, "parameter"
        )
        return super().set_params(**params)


class FromPaper:
    """Base class of estimators whose paper says with which values it ran them."""

    problem_class: ClassVar[type[Any]]

    @classmethod
    def as_in_paper(cls, n: int | None = None, **given: Any) -> Self:
        """Return the estimator with the values of its paper's own experiments.

        Where the paper searches a grid by cross-validation, the value is the grid's middle.

        Parameters
        ----------
        n : int, optional
            Number of training points. TSGS3VM needs it: its paper takes √n random features, and one pass over the points.
        **given
            Parameters of the estimator that differ, such as the values of a search.

        Raises
        ------
        ValueError
            If `n` is missing, or if the paper's values for this class are not known.
        """
        names = cls._get_param_names()  # type: ignore[attr-defined]
        setting = getattr(cls.problem_class, "name", "")
        if setting not in AS_IN_PAPER:
            raise DSGError(f"no paper's values are known for {cls.__name__}; they are for {', '.join(AS_IN_PAPER)}")
        values = AS_IN_PAPER[setting].at(n, **given)
        return cls(**{name: value for name, value in values.items() if name in names or name in given})
