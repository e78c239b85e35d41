"""The idea of doubly stochastic gradients in numbers: random waves, their sum, one step, its size, and its noise."""

from dsgcore.explained.bowl import Bowl, bowl_of, objectives, rolled
from dsgcore.explained.example import SWITCHES, Added, Example, Noises, example, first_steps, noises
from dsgcore.explained.waves import Sum, exact_bump, single_waves, sums_of_waves, sums_on_a_line

__all__ = [
    "SWITCHES",
    "Added",
    "Bowl",
    "Example",
    "Noises",
    "Sum",
    "bowl_of",
    "exact_bump",
    "example",
    "first_steps",
    "noises",
    "objectives",
    "rolled",
    "single_waves",
    "sums_of_waves",
    "sums_on_a_line",
]
