"""Estimators with the values of their papers' own experiments."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from dsgcore.core.errors import DSGError
from dsgcore.problems.as_in_paper import AS_IN_PAPER


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
