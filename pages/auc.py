"""Semi-supervised AUC (QSG-S2AUC)."""

from pages._workbench import workbench

workbench("auc")
