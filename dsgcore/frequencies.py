"""The frequencies of the iteration after this one, drawn on another thread while this one's are used."""

from __future__ import annotations

from concurrent.futures import Future

from numpy.typing import NDArray

from dsgcore._threads import on_another_thread
from dsgcore.expansion import Expansion

# Fewer numbers are drawn sooner than they are handed to another thread.
MIN_NUMBERS_DRAWN_AHEAD = 16_384


class Frequencies:
    """The frequencies of a model's iterations, asked for one after the other; the same as the model's own.

    Parameters
    ----------
    model : Expansion
    """

    def __init__(self, model: Expansion) -> None:
        self._model = model
        self._drawn: dict[tuple[int, int], Future[NDArray]] = {}

    def draw_ahead(self, t: int, m: int) -> None:
        """Begin to draw what `at` will be asked for."""
        if self._model.d * m >= MIN_NUMBERS_DRAWN_AHEAD:
            drawn = on_another_thread(lambda: self._model.frequencies(t, m))
            self._drawn = {} if drawn is None else {(t, m): drawn}

    def at(self, t: int, m: int) -> NDArray:
        """Return the frequencies of iteration `t`, of shape (d, m), in turns per unit."""
        drawn = self._drawn.pop((t, m), None)
        return self._model.frequencies(t, m) if drawn is None else drawn.result()
