"""What the runs of all sessions may take of the server's memory together: each is counted before it is made."""

from __future__ import annotations

import os
import threading
from weakref import WeakSet

from dsgcore.experiments import SpecError
from dsgcore.experiments.cost import GIGABYTE, of_machine

# Names the gigabytes; without it, so much of the machine's memory.
VARIABLE = "DSGLAB_MEMORY"
SHARE = 0.6


class Claim:
    """What one page's run takes, in bytes; gone when its session is."""

    def __init__(self) -> None:
        self.memory = 0


class Account:
    """A number of bytes, and who takes how many of them.

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
        """Let a claim be so many bytes from now on.

        Raises
        ------
        SpecError
            In one sentence, where the others leave less than that; the claim stays as it was.
        """
        with self._lock:
            left = self.limit - self.taken + claim.memory
            if memory > left:
                raise SpecError(
                    f"this run would take about {_shown(memory)} of memory, and the other runs on this server leave "
                    f"{_shown(max(left, 0))} of {_shown(self.limit)}: a smaller one fits, or this one later"
                )
            claim.memory = memory
            self._claims.add(claim)


def _shown(size: int) -> str:
    return f"{size / GIGABYTE:.3g} GB"


def _account() -> Account:
    try:
        named = float(os.environ.get(VARIABLE, ""))
    except ValueError:
        named = 0.0
    return Account(round(named * GIGABYTE) if 0 < named < float("inf") else round(SHARE * of_machine()))


account = _account()
