"""A comparison in a thread beside its caller, for pages: it shows the result so far, and ends when nobody looks."""

from __future__ import annotations

import threading
import time
from typing import Any

from dsgcore.comparing.carrying_out import compare
from dsgcore.comparing.result import Comparison
from dsgcore.core.errors import DSGError

# Seconds after which a comparison ends at its next fit, if nobody has asked for its state.
LEASE = 90.0


class Unwanted(Exception):  # noqa: N818
    """Signal that ends a comparison."""


class Background:
    """A comparison that goes on in a thread; the arguments are those of `compare`.

    Attributes
    ----------
    so_far : Comparison or None
        The latest result.
    error : str
        Reason why there is no result, in a sentence.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.so_far: Comparison | None = None
        self.error = ""
        self.start, self._wanted_at, self._is_cancelled = time.monotonic(), time.monotonic(), False
        self._thread = threading.Thread(target=self._run, args=(arguments, options), name="comparison", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """True if the comparison is finished, cancelled or refused. To ask renews the lease."""
        self._wanted_at = time.monotonic()
        return not self._thread.is_alive()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    def cancel(self) -> None:
        """End the comparison at its next fit. Finished fits are kept."""
        self._is_cancelled = True

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the comparison is over."""
        self._thread.join(seconds)

    def _run(self, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        try:
            self.so_far = compare(*arguments, **options, tell=self._take)
        except Unwanted:
            pass
        except (DSGError, OSError) as error:
            self.error = str(error)

    def _take(self, so_far: Comparison) -> None:
        self.so_far = so_far
        if self._is_cancelled or time.monotonic() - self._wanted_at > LEASE:
            raise Unwanted
