"""Descriptions of the kernels for users; their texts are in `kernel_words.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dsgcore.kernels import KERNELS


@dataclass(frozen=True)
class KernelWords:
    """Description of a kernel.

    Attributes
    ----------
    title : str
        The name in the app, also in links.
    sentence : str
        Its effect on the data, to help the choice.
    formula, features : str
        k(x, x') and its random features, in Markdown with short formulas, between which a narrow page can break.
    remark : str
        Limits of the papers' theorems for this kernel, in Markdown; empty if they hold unchanged.
    """

    title: str
    sentence: str
    formula: str
    features: str
    remark: str = ""


@cache
def words_of(name: str) -> KernelWords:
    """Return the description of a kernel; by default, the first line of its docstring."""
    said = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).get(name)
    if said is not None:
        return KernelWords(**{field: text.replace("\n", " ") for field, text in said.items()})
    kernel = KERNELS[name]
    first = (kernel.__doc__ or kernel.name).strip().splitlines()[0].rstrip(".")
    return KernelWords(name.replace("_", " ").capitalize(), f"{first}.", first, "those of this kernel")
