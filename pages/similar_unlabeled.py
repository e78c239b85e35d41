"""Similar-unlabeled classification (TSGSU)."""

from pages._workbench import workbench

workbench("similar_unlabeled")
