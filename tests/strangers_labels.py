"""Large numbers as labels, and estimators of each kind that take labels as strangers write them."""

from dsgcore import PS3VT, QS3ORAO, QSGS2AUC, TSGS3VM, TSGSU
from dsgcore.baselines import LRCMC, PNUAUC, SSMC, EverydayLogisticRegression, EverydayOrdinalSVC, LinearMC

BIG, LARGE = 2**53, 2**63
SMALL = {"n_iter": 12, "n_features": 16, "batch_size": 16, "tol": None, "random_state": 0}
ESTIMATORS = [
    QSGS2AUC(**SMALL),
    TSGS3VM(**SMALL),
    QS3ORAO(**SMALL),
    TSGSU(y_holds="classes", prior=0.7, **SMALL),
    *(cls(n_iter=20, tol=None, random_state=0) for cls in (PS3VT, LinearMC, LRCMC, SSMC)),
    PNUAUC(random_state=0),
    EverydayLogisticRegression(),
    EverydayOrdinalSVC(),
]
