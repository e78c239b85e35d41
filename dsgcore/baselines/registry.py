"""Registry of the baselines in each setting; a setting's modules are imported on first access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any


def _of(module: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, f"dsgcore.{module}")


# Methods that people install, for settings with class labels. None of them can learn from similar pairs.
_EVERYDAY = _of("baselines.everyday", "EverydaySVC", "EverydayLogistic", "EverydayNystroem") | _of(
    "baselines.everyday_unlabeled", "EverydaySelfTraining", "EverydaySpreadingKNN", "EverydaySpreadingRBF"
)
# The module of each class.
METHODS: dict[str, dict[str, str]] = {
    "similar_unlabeled": _of("baselines.susl", "SUSL") | _of("baselines.sudh", "SUDH") | _of("baselines.cuu", "CUU"),
    "auc": _of("baselines.pnu_auc", "PNUAUC", "SAMULT") | _EVERYDAY,
    "s3vm": _of("baselines.s3vm_light", "S3VMLight")
    | _of("baselines.bls3vm", "BLS3VM")
    | _of("baselines.bgs3vm", "BGS3VM")
    | _of("baselines.frs3vm", "FRS3VM")
    | _of("baselines.qns3vm", "QNS3VM")
    | _EVERYDAY,
    "ordinal": _of("baselines.svorex", "SVOREX")
    | _of("baselines.ordinal_auc", "MPNUAUC", "MSAMULT")
    | _of("baselines.everyday", "EverydaySVR", "EverydayOrdinalSVC"),
    "multiclass": _of("baselines.ablations", "LinearMC", "LRCMC", "SSMC") | _EVERYDAY,
}


class _Competitors(Mapping[str, tuple[type[Any], ...]]):
    """Mapping from a setting's name to the classes of its baselines."""

    def __getitem__(self, setting: str) -> tuple[type[Any], ...]:
        return tuple(getattr(import_module(module), name) for name, module in METHODS[setting].items())

    def __iter__(self) -> Iterator[str]:
        return iter(METHODS)

    def __len__(self) -> int:
        return len(METHODS)


COMPETITORS: Mapping[str, tuple[type[Any], ...]] = _Competitors()
