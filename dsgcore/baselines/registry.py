"""Which methods compete in which setting; a method's file is read when its setting is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

# What people install, where there are labels of classes: from pairs that are similar none of it can learn.
EVERYDAY = (
    *(("everyday", f"Everyday{name}") for name in ("SVC", "Logistic", "Nystroem")),
    *(("everyday_unlabeled", f"Everyday{name}") for name in ("SelfTraining", "SpreadingKNN", "SpreadingRBF")),
)

# Module, from this package, and class.
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
        *(("everyday_ordinal", f"Everyday{name}") for name in ("SVR", "OrdinalSVC")),
    ),
    "multiclass": (
        *((".multiclass.special", name) for name in ("LinearMC", "LRCMC", "SSMC")),
        *EVERYDAY,
    ),
}


class _Competitors(Mapping[str, tuple[type[Any], ...]]):
    """From a setting's name to its competitors' classes."""

    def __getitem__(self, setting: str) -> tuple[type[Any], ...]:
        modules = [(import_module(f".{module}", "dsgcore.baselines"), name) for module, name in PLACES[setting]]
        return tuple(getattr(module, name) for module, name in modules)

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


COMPETITORS: Mapping[str, tuple[type[Any], ...]] = _Competitors()
