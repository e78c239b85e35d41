"""The one door to model files, whatever kind of model they hold."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING

from dsgcore.core.model_files import read

if TYPE_CHECKING:
    from dsgcore.core.expansion import Expansion
    from dsgcore.multiclass.weights import Weights

# Where each kind of model is; imported when a file holds it, for one of them brings scikit-learn along.
_MODULES = {"expansion": "dsgcore.core.expansion", "weights": "dsgcore.multiclass.weights"}


def load_model(file: str | Path | IO[bytes]) -> Expansion | Weights:
    """Read a model that a run, the app or a model's `save` wrote; the file says which kind of model it is.

    Parameters
    ----------
    file : path or binary file

    Returns
    -------
    Expansion or Weights
        With `evaluate(X)`, for X of shape (n, d): the scores of `Expansion` have shape (n,), those of `Weights`, the
        multi-class setting's model, (n, K). They are the same, to the bit, as those of the model that was saved.

    Raises
    ------
    ModelError
        In one sentence, if the file is not such a model, or this machine's random numbers are not those that it was
        trained with.
    """
    held = read(file)
    model: Expansion | Weights = import_module(_MODULES[held.model]).restore(held)
    return model
