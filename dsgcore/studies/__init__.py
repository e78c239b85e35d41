"""Studies: a spec varied along axes and over seeds. Each run is made once and kept in a store."""

from dsgcore.studies.carrying_out import begin_study, carry_out
from dsgcore.studies.importance import Importance, Response, importance, response
from dsgcore.studies.results import (
    MEASURES,
    Measure,
    Results,
    ScoreCurves,
    StudyRuns,
    convergences,
    csv_of,
    curves_of,
    evaluations,
    table_of,
    time_to,
    to_optuna,
    usual_target,
)
from dsgcore.studies.store import Store, StoredRun, StoreError, default_store, keep_race, kept_race, name_of
from dsgcore.studies.study import Price, Study, StudyBudget, StudyError, check_price, price_of

__all__ = ["MEASURES", "Importance", "Measure", "Price", "Response", "Results", "ScoreCurves", "Store", "StoreError"]
__all__ += ["StoredRun", "Study", "StudyBudget", "StudyError", "StudyRuns", "begin_study", "carry_out", "check_price"]
__all__ += ["convergences", "csv_of", "curves_of", "default_store", "evaluations", "importance", "keep_race"]
__all__ += ["kept_race", "name_of", "price_of", "response", "table_of", "time_to", "to_optuna", "usual_target"]
