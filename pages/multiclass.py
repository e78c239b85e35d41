"""Multi-class learning with a graph and a pull to low rank (PS3VT)."""

from pages._workbench import workbench

workbench("multiclass")
