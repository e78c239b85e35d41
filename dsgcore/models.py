"""Files of whole estimators and of models: arrays and JSON text, without pickle."""

from __future__ import annotations

import io
import json
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dsgcore.core.files import whole_files
from dsgcore.solver.model_files import ESTIMATOR, ModelError, ModelFile, read, write

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


# Module of each kind of model. It is imported when a file holds the kind, because one of them imports scikit-learn.
_MODULES = {"expansion": "dsgcore.solver.model", "weights": "dsgcore.multiclass.features"}
# Modules whose classes a file may name, and the array that holds the text.
_HOMES = (
    "dsgcore.estimators.",
    "dsgcore.multiclass.",
    "dsgcore.tuning.",
    "dsgcore.kernels.",
    "sklearn.",
    "scipy.sparse.",
)
TEXT = "text"
NEAREST = "NearestNeighbors"
# Modules that files name and that are elsewhere now.
_MOVED = {"dsgcore.tuning.seen_labels": "dsgcore.tuning.calibrated"}


def save_model(estimator: BaseEstimator, file: str | Path | IO[bytes]) -> None:
    """Write a fitted estimator to a file, with all that it has learned; nothing is pickled.

    Parameters
    ----------
    estimator : QSGS2AUC, TSGS3VM, QS3ORAO, PS3VT, TSGSU, Safe or Calibrated
        A pipeline of scikit-learn's that ends with one of them may be saved, too.
    file : path or binary file
        A path's file is replaced if it holds a model, and otherwise refused.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    ModelError
        If a part of the estimator cannot be written without pickle, or if the path is that of another file.

    Examples
    --------
    >>> from io import BytesIO
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from dsgcore import TSGS3VM, load_model, save_model
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> model = TSGS3VM(random_state=0).fit(X, np.where(np.arange(100) < 20, y, -1))
    >>> file = BytesIO()
    >>> save_model(model, file)
    >>> bool((load_model(file).decision_function(X) == model.decision_function(X)).all())
    True
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    packed = _Packed()
    text = json.dumps(packed.plain(estimator))
    arrays = packed.arrays | {TEXT: np.frombuffer(text.encode(), dtype=np.uint8)}
    header = {"name": type(estimator).__name__, "libraries": _libraries()}
    if not isinstance(file, str | Path):
        write(file, ESTIMATOR, header, **arrays)
        return
    path = Path(file)
    if path.exists():
        try:
            read(path)
        except ModelError as error:
            raise ModelError(f"{path} is not replaced: {error}") from error
    with whole_files(path.parent, [path.name]) as part, open(part / path.name, "wb") as opened:
        write(opened, ESTIMATOR, header, **arrays)


def load_model(file: str | Path | IO[bytes]) -> Any:
    """Read an estimator that `save_model` wrote, or a model that a run, the app or a model's `save` wrote.

    Parameters
    ----------
    file : path or binary file

    Returns
    -------
    estimator, Expansion or Weights
        The estimator with the same predictions, values and scores, or a model with `evaluate(X)`, for X of shape (n, d): the
        values of an `Expansion` have shape (n,), and those of `Weights`, the multi-class setting's model, (n, K). They are
        bit-for-bit identical to those of the saved model.

    Raises
    ------
    ModelError
        If there is no such file or it is not a model, or if this machine draws other random numbers than those of its
        training.

    Examples
    --------
    >>> from io import BytesIO
    >>> from dsgcore import Run, Spec, load_model
    >>> run = Run(Spec.from_dict({"setting": "auc", "data": {"name": "two_moons"}, "solver": {"n_iter": 5}}))
    >>> run.advance()
    5
    >>> file = BytesIO()
    >>> run.result.save(file)
    >>> _ = file.seek(0)
    >>> bool((load_model(file).evaluate(run.split.X_test) == run.result.evaluate(run.split.X_test)).all())
    True
    """
    held = read(file)
    if held.model != ESTIMATOR:
        return import_module(_MODULES[held.model]).restore(held)
    held.expect({"name", "libraries"}, held.arrays.keys() | {TEXT})
    try:
        estimator = _unpacked(held)
        if not hasattr(estimator, "predict"):
            raise ModelError("not a model file: it holds no estimator")
    except ModelError:
        raise
    except Exception as error:  # a text that names other arrays, fields or classes than it should
        raise ModelError(f"not a model file, or a damaged one ({type(error).__name__})") from error
    return estimator


def _libraries() -> dict[str, str]:
    import sklearn

    return {"scikit-learn": ".".join(sklearn.__version__.split(".")[:2])}


class _Packed:
    """Plain data for an object and everything in it. Arrays are kept beside, under names that the data hold."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._known: dict[int, tuple[Any, str]] = {}  # the objects, which must stay alive, and their numbers

    def plain(self, value: Any) -> Any:
        """Return plain data; raise `ModelError` for what has no such form."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) in (list, tuple):
            return {type(value).__name__: [self.plain(each) for each in value]}
        if type(value) is dict:
            return {"dict": [[self.plain(name), self.plain(each)] for name, each in value.items()]}
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, np.ndarray) and value.dtype.kind == "O":
            return {"objects": [self.plain(each) for each in value.ravel()], "shape": list(value.shape)}
        if isinstance(value, np.ndarray | np.generic):
            return {"array" if isinstance(value, np.ndarray) else "scalar": self._keep(value)}
        if id(value) in self._known:
            return {"same": self._known[id(value)][1]}
        number = str(len(self._known))
        self._known[id(value)] = value, number
        return {"number": number, **self._object(value)}

    def _keep(self, value: Any) -> str:
        name = f"array {len(self.arrays)}"
        self.arrays[name] = np.asarray(value)
        return name

    def _object(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        if isinstance(value, np.random.RandomState):
            return {"random": self.plain(value.get_state())}
        if hasattr(value, "save") and kind.__name__ in ("Expansion", "Weights"):
            file = io.BytesIO()
            value.save(file)
            return {"file": self._keep(np.frombuffer(file.getvalue(), dtype=np.uint8))}
        if kind.__name__ == NEAREST:  # its tree is made again
            return {"nearest": self.plain(value.get_params()), "points": self.plain(np.asarray(value._fit_X))}
        if not f"{kind.__module__}.".startswith(_HOMES) or not hasattr(value, "__dict__"):
            raise ModelError(
                f"{kind.__name__} in the estimator cannot be written without pickle: save the estimator with joblib"
            )
        return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": self.plain(dict(vars(value)))}


def _unpacked(held: ModelFile) -> Any:
    known: dict[str, Any] = {}

    def made(plain: Any) -> Any:
        if not isinstance(plain, dict):
            return plain
        value: Any
        match plain:
            case {"list": values}:
                return [made(each) for each in values]
            case {"tuple": values}:
                return tuple(made(each) for each in values)
            case {"dict": pairs}:
                return {made(name): made(each) for name, each in pairs}
            case {"dtype": name}:
                return np.dtype(name)
            case {"objects": values, "shape": shape}:
                array = np.empty(len(values), dtype=object)
                array[:] = [made(each) for each in values]
                return array.reshape(shape)
            case {"array": name}:
                return held.arrays[name]
            case {"scalar": name}:
                return held.arrays[name][()]
            case {"same": number}:
                return known[number]
            case {"random": state}:
                value = np.random.RandomState()
                value.set_state(made(state))
            case {"file": name}:
                value = load_model(io.BytesIO(held.arrays[name].tobytes()))
            case {"nearest": parameters, "points": points}:
                from sklearn.neighbors import NearestNeighbors

                value = NearestNeighbors(**made(parameters)).fit(made(points))
            case {"class": place, "fields": fields}:
                module, _, name = place.partition(":")
                if not f"{module}.".startswith(_HOMES):
                    raise ModelError(f"not a model file: it names the class {place[:60]}")
                if module.startswith("sklearn.") and held.header["libraries"] != _libraries():
                    then = held.header["libraries"].get("scikit-learn")
                    raise ModelError(
                        f"the file holds objects of scikit-learn {then}, and this is {_libraries()['scikit-learn']}: "
                        "install that version, or train again"
                    )
                kind = getattr(import_module(_MOVED.get(module, module)), name)
                value = known[plain["number"]] = object.__new__(kind)
                vars(value).update(made(fields))
        known[plain["number"]] = value
        return value

    return made(json.loads(held.arrays[TEXT].tobytes()))
