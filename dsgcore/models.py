"""Loader of model files of every kind."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING

from dsgcore.solver.model_files import read

if TYPE_CHECKING:
    from dsgcore.multiclass.weights import Weights
    from dsgcore.solver.model import Expansion

# Module of each kind of model. It is imported when a file holds the kind, because one of them imports scikit-learn.
_MODULES = {"expansion": "dsgcore.solver.model", "weights": "dsgcore.multiclass.weights"}


def load_model(file: str | Path | IO[bytes]) -> Expansion | Weights:
    """Read a model that a run, the app or a model's `save` wrote. The file names the kind of model.

    Parameters
    ----------
    file : path or binary file

    Returns
    -------
    Expansion or Weights
        A model with `evaluate(X)`, for X of shape (n, d). The scores of an `Expansion` have shape (n,). Those of
        `Weights`, the multi-class setting's model, have shape (n, K). They are bit-for-bit identical to those of the
        saved model.

    Raises
    ------
    ModelError
        If the file is not such a model, or if this machine draws other random numbers than those of its training.

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
    model: Expansion | Weights = import_module(_MODULES[held.model]).restore(held)
    return model
