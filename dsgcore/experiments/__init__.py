"""Specs, runs, their recorded histories, and exports."""

from dsgcore.experiments.data_of import FileStore, load_dataset, load_split, read_spec
from dsgcore.experiments.engine import long_work
from dsgcore.experiments.export import script, summary
from dsgcore.experiments.history import History
from dsgcore.experiments.live import LiveRun, split_for
from dsgcore.experiments.plane import Plane, Surface
from dsgcore.experiments.run import Health, Run, StopReason
from dsgcore.experiments.spec import SETTINGS, Setting, Spec, SpecError, default_spec, with_values
from dsgcore.experiments.suggesting import begin_suggesting, suggest_values
from dsgcore.experiments.theory import as_in_paper, breaches, broken_by, kept_to, remedies, theory_of
from dsgcore.experiments.verdict import outcome_of

__all__ = ["SETTINGS", "FileStore", "Health", "History", "LiveRun", "Plane", "Run", "Setting", "Spec", "SpecError"]
__all__ += ["StopReason", "Surface", "as_in_paper", "begin_suggesting", "breaches", "broken_by"]
__all__ += ["default_spec", "kept_to", "load_dataset", "load_split", "long_work", "outcome_of", "read_spec"]
__all__ += ["remedies", "script", "split_for", "suggest_values", "summary", "theory_of"]
__all__ += ["with_values"]
