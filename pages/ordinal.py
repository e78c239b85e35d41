"""Semi-supervised ordinal regression (QS3ORAO)."""

from pages._workbench import workbench

workbench("ordinal")
