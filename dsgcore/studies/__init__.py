"""Studies: a spec varied along axes and over seeds. Each run is made once and kept in a store."""

from dsgcore.studies.axes import Axis, StudyError
from dsgcore.studies.axis_importance import Importance, Response, importance, response
from dsgcore.studies.background import Progress, begin_study
from dsgcore.studies.carrying_out import Outcome, carry_out
from dsgcore.studies.curves import Curves, ScoreCurves, curves_of, evaluations, time_to, usual_target
from dsgcore.studies.kept_races import keep_race, kept_race, name_of
from dsgcore.studies.price import Price, StudyBudget, check_price, price_of
from dsgcore.studies.process_pool import local_processes
from dsgcore.studies.results import (
    MEASURES,
    Measure,
    Results,
    StudyRuns,
    table_of,
)
from dsgcore.studies.spec_list import SpecList, Trajectories, convergences
from dsgcore.studies.store import Store, StoredRun, StoreError, default_store
from dsgcore.studies.study import Study, StudyRun

__all__ = [
    "MEASURES",
    "Axis",
    "Curves",
    "Importance",
    "Measure",
    "Outcome",
    "Price",
    "Progress",
    "Response",
    "Results",
    "ScoreCurves",
    "SpecList",
    "Store",
    "StoreError",
    "StoredRun",
    "Study",
    "StudyBudget",
    "StudyError",
    "StudyRun",
    "StudyRuns",
    "Trajectories",
    "begin_study",
    "carry_out",
    "check_price",
    "convergences",
    "curves_of",
    "default_store",
    "evaluations",
    "importance",
    "keep_race",
    "kept_race",
    "local_processes",
    "name_of",
    "price_of",
    "response",
    "table_of",
    "time_to",
    "usual_target",
]
