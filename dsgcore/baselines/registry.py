"""Registry of the baselines in each setting; a setting's modules are imported on first access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

# Methods that people install, for settings with class labels. None of them can learn from similar pairs.
EVERYDAY = (
    *(("everyday", f"Everyday{name}") for name in ("SVC", "Logistic", "Nystroem")),
    *(("everyday_unlabeled", f"Everyday{name}") for name in ("SelfTraining", "SpreadingKNN", "SpreadingRBF")),
)

# Module in this package, and class.
PLACES: dict[str, tuple[tuple[str, str], ...]] = {
    "similar_unlabeled": (("susl", "SUSL"), ("sudh", "SUDH"), ("cuu", "CUU")),
    "auc": (("pnu_auc", "PNUAUC"), ("samult", "SAMULT"), *EVERYDAY),
    "s3vm": (
        ("s3vm_light", "S3VMLight"),
        ("bls3vm", "BLS3VM"),
        ("bgs3vm", "BGS3VM"),
        ("frs3vm", "FRS3VM"),
        ("qns3vm", "QNS3VM"),
        *EVERYDAY,
    ),
    "ordinal": (
        ("svorex", "SVOREX"),
        ("ordinal_auc", "MPNUAUC"),
        ("ordinal_auc", "MSAMULT"),
        *(("everyday", f"Everyday{name}") for name in ("SVR", "OrdinalSVC")),
    ),
    "multiclass": (
        *((".multiclass.special", name) for name in ("LinearMC", "LRCMC", "SSMC")),
        *EVERYDAY,
    ),
}


class _Competitors(Mapping[str, tuple[type[Any], ...]]):
    """Mapping from a setting's name to the classes of its baselines."""

    def __getitem__(self, setting: str) -> tuple[type[Any], ...]:
        modules = [(import_module(f".{module}", "dsgcore.baselines"), name) for module, name in PLACES[setting]]
        return tuple(getattr(module, name) for module, name in modules)

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


COMPETITORS: Mapping[str, tuple[type[Any], ...]] = _Competitors()
