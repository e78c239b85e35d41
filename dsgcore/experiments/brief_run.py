"""A run that no page shows: it measures what a study keeps of each iteration, and everything once at the end."""

from __future__ import annotations

import numpy as np

from dsgcore.core.errors import DSGError
from dsgcore.core.threads import single_threaded_blas
from dsgcore.experiments.run import Run, StopReason


class BriefRun(Run):
    """A run whose history has `t`, the objective and the test score alone, and those of the average if there is one.

    These columns, `last_row`, the model and the values are bit-for-bit identical with those of a `Run`. There are no
    gauges and no earlier states, so a run that diverges cannot go back: use a `Run` for it.
    """

    def _advance_once(self) -> bool:
        row = self.engine.advance_briefly()
        if row is None or not np.isfinite(row["objective"]):
            self.stop_reason = StopReason.DIVERGED
            return False
        self.history.append(row)
        self.history.replace(self.engine.averaged_again)
        self._check_stop(row["objective"])
        return True

    def last_row(self) -> dict[str, float]:
        """Return everything that can be measured of the last iteration; empty before the first one.

        Raises
        ------
        DSGError
            If the run has diverged: its last state is already that of a later iteration.
        """
        if self.stop_reason is StopReason.DIVERGED:
            raise DSGError("the last row of a brief run that has diverged is not known: make a `Run` of its spec")
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):  # as in `advance`
            return self.engine.last_row() if len(self.history) else {}
