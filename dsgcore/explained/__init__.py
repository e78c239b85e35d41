"""The idea of doubly stochastic gradients in numbers: random waves, their sum, one step, its size, and its noise."""

from dsgcore.explained.bowl import Bowl as Bowl
from dsgcore.explained.bowl import bowl_of as bowl_of
from dsgcore.explained.bowl import objectives as objectives
from dsgcore.explained.bowl import rolled as rolled
from dsgcore.explained.example import SWITCHES as SWITCHES
from dsgcore.explained.example import Added as Added
from dsgcore.explained.example import Example as Example
from dsgcore.explained.example import Noises as Noises
from dsgcore.explained.example import example as example
from dsgcore.explained.example import first_steps as first_steps
from dsgcore.explained.example import noises as noises
from dsgcore.explained.waves import Sum as Sum
from dsgcore.explained.waves import exact_bump as exact_bump
from dsgcore.explained.waves import single_waves as single_waves
from dsgcore.explained.waves import sums_of_waves as sums_of_waves
from dsgcore.explained.waves import sums_on_a_line as sums_on_a_line
