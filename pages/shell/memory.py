"""The limit on the memory of all sessions' runs together. Each run is counted before it starts."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakSet

from dsgcore.experiments import SpecError
from dsgcore.experiments.cost import GIGABYTE, of_machine

# Environment variable with the number of gigabytes; without it, the limit is this share of the machine's memory.
VARIABLE = "DSGLAB_MEMORY"
SHARE = 0.6


class Claim:
    """The memory of one page's run in bytes; it ends with its session."""

    def __init__(self) -> None:
        self.memory = 0


class Account:
    """A limit in bytes, and the claims on it.

    Parameters
    ----------
    limit : int
        Bytes.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._claims: WeakSet[Claim] = WeakSet()

    @property
    def taken(self) -> int:
        """Bytes of all claims."""
        return sum(claim.memory for claim in list(self._claims))

    def take(self, claim: Claim, memory: int) -> None:
        """Set the size of a claim.

        Raises
        ------
        SpecError
            If the other claims leave less than that; the claim then stays unchanged.
        """
        with self._lock:
            left = self.limit - self.taken + claim.memory
            if memory > left:
                raise SpecError(
                    f"this run needs about {_shown(memory)} of memory, but the other runs on this server leave "
                    f"{_shown(max(left, 0))} of {_shown(self.limit)}. Make the run smaller, or try again later"
                )
            claim.memory = memory
            self._claims.add(claim)

    @contextmanager
    def taking(self, claim: Claim, memory: int) -> Iterator[None]:
        """Set the size of a claim for what begins inside the block; if that fails, the claim has its size of before.

        Raises
        ------
        SpecError
            As in `take`.
        """
        before = claim.memory
        self.take(claim, memory)
        try:
            yield
        except BaseException:
            claim.memory = before
            raise


def _shown(size: int) -> str:
    return f"{size / GIGABYTE:.3g} GB"


def _account() -> Account:
    try:
        named = float(os.environ.get(VARIABLE, ""))
    except ValueError:
        named = 0.0
    return Account(round(named * GIGABYTE) if 0 < named < float("inf") else round(SHARE * of_machine()))


account = _account()
