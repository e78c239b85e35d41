"""Studies: a spec varied along axes and over seeds. Each run is made once and kept in a store."""

from dsgcore.studies.carrying_out import Outcome, Progress, begin_study, carry_out
from dsgcore.studies.importance import Importance, Response, importance, response
from dsgcore.studies.optuna_trials import to_optuna
from dsgcore.studies.results import (
    MEASURES,
    Curves,
    Measure,
    Results,
    ScoreCurves,
    StudyRuns,
    csv_of,
    curves_of,
    evaluations,
    table_of,
    time_to,
    usual_target,
)
from dsgcore.studies.store import Store, StoredRun, StoreError, default_store, keep_race, kept_race, name_of
from dsgcore.studies.study import (
    Axis,
    Price,
    SpecList,
    Study,
    StudyBudget,
    StudyError,
    StudyRun,
    check_price,
    price_of,
)
from dsgcore.studies.trajectories import Trajectories, convergences

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
    "csv_of",
    "curves_of",
    "default_store",
    "evaluations",
    "importance",
    "keep_race",
    "kept_race",
    "name_of",
    "price_of",
    "response",
    "table_of",
    "time_to",
    "to_optuna",
    "usual_target",
]
