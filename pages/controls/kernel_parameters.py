"""The kernels that a page offers, and their parameters with defaults that suit the data."""

from __future__ import annotations

from dataclasses import replace

from dsgcore.core.parameters import Choice, Parameter
from dsgcore.experiments import Setting, default_spec
from dsgcore.experiments.kernel_words import usual_width_of, words_of
from dsgcore.experiments.settings import FILE, kernel_names
from dsgcore.kernels import KERNELS
from dsgcore.kernels.widths import like_scale
from pages.controls.own_file import own_file

PICKER = "kernel"
# Parameters with the same name but another meaning in each kernel have separate controls.
OWN_KEYS = {
    ("laplacian", "sigma"): "laplacian_sigma",
    ("dot_product", "sigma"): "dot_product_sigma",
}


def usual_kernel(problem: type[Setting]) -> str:
    """Return the name of a setting's default kernel."""
    return str(default_spec(problem.name).kernel.name)


def kernel_choices(problem: type[Setting]) -> list[Choice]:
    """Return the parameter that picks the kernel, or nothing if there is only one kernel."""
    names = kernel_names(problem)
    if len(names) == 1:
        return []
    each = "\n".join(f"- **{words.title}**: {words.sentence}" for words in map(words_of, names))
    sentence = f"The measure of how alike two points are. A change starts a new run.\n\n{each}\n\n"
    return [Choice(PICKER, usual_kernel(problem), "k", "Kernel", sentence, options=names)]


def kernel_title(name: str) -> str:
    """Return the name of a kernel that pages show."""
    return words_of(name).title


def kernel_parameters(problem: type[Setting], dataset: str, kernel: str) -> tuple[Parameter, ...]:
    """Return a kernel's own parameters, with defaults that suit a data set."""
    own = own_file(problem) if dataset == FILE else None
    width = like_scale(kernel, own.sigma, own.d) if own else usual_width_of(problem, dataset, kernel)
    return tuple(replace(p, default=width.get(p.name, p.default)) for p in KERNELS[kernel].parameters)
