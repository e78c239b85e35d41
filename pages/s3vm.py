"""Semi-supervised SVM (TSGS3VM)."""

from pages._workbench import workbench

workbench("s3vm")
