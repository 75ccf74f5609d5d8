"""Sums of products of small tables, and the derivative of such a sum by every table.

A factor is an array with a label (a variable's number) for each axis. opt_einsum's greedy search chooses the
order of the products. They are then carried out here and not by opt_einsum, for three reasons: the backward
pass that gives the derivatives needs the pairwise intermediate results, their sizes are checked before
anything is computed, and einsum's 52 letters don't limit the number of labels in all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from string import ascii_letters

import numpy as np
from numpy.typing import NDArray
from opt_einsum.paths import ssa_greedy_optimize

from cb_pgm.errors import CausalSystemError

__all__ = ["Factor", "contract", "value_and_gradients"]

Array = NDArray[np.float64]
Labels = tuple[int, ...]
Factor = tuple[Array, Labels]

_FREED: Array = np.empty(0)
_LARGEST_TABLE = 2**26  # cells of an intermediate result: half a gigabyte


def contract(factors: Sequence[Factor], output: Labels) -> Array:
    """Return the product of all factors, summed over every label outside `output`; axes in that order.

    Raises
    ------
    CausalSystemError
        If a table on the way would be larger than half a gigabyte.
    """
    arrays = [array for array, _ in factors]
    for left, right, labels_left, labels_right, labels in _steps(factors, output):
        arrays.append(_product(arrays[left], labels_left, arrays[right], labels_right, labels))
        arrays[left] = arrays[right] = _FREED  # the product replaces them
    if len(factors) == 1:
        array, labels = factors[0]
        return array.transpose([labels.index(label) for label in output])
    return arrays[-1]


def value_and_gradients(factors: Sequence[Factor]) -> tuple[float, list[Array]]:
    """Return the product of all factors summed over every label, and its derivative by each factor's cells.

    Every label must occur in at least two factors. The derivatives have the factors' shapes. The cost is
    about three times that of the value alone.

    Raises
    ------
    CausalSystemError
        If a table on the way would be larger than half a gigabyte.
    """
    steps = _steps(factors, ())
    arrays = [array for array, _ in factors]
    for left, right, labels_left, labels_right, labels in steps:
        arrays.append(_product(arrays[left], labels_left, arrays[right], labels_right, labels))
    gradients = [np.ones(())] * len(arrays)
    for node in range(len(arrays) - 1, len(factors) - 1, -1):
        left, right, labels_left, labels_right, labels = steps[node - len(factors)]
        gradients[left] = _product(gradients[node], labels, arrays[right], labels_right, labels_left)
        gradients[right] = _product(gradients[node], labels, arrays[left], labels_left, labels_right)
    return float(arrays[-1]), gradients[: len(factors)]


def _steps(factors: Sequence[Factor], output: Labels) -> list[tuple[int, int, Labels, Labels, Labels]]:
    """Return the products in order: (left, right, left's labels, right's labels, the result's labels).

    Factors are numbered from 0, and results take the numbers after them. The last step also brings the axes
    into the order of `output`. A single factor needs no step.
    """
    sizes = {
        label: size for array, labels in factors for label, size in zip(labels, array.shape, strict=True)
    }
    terms = [labels for _, labels in factors]
    uses = Counter(label for labels in terms for label in labels)
    uses.update(output)
    path = ssa_greedy_optimize([frozenset(labels) for labels in terms], frozenset(output), sizes)
    steps = []
    for left, right in (pair for pair in path if len(pair) == 2):
        union = dict.fromkeys((*terms[left], *terms[right]))
        for label in (*terms[left], *terms[right]):
            uses[label] -= 1
        labels = tuple(label for label in union if uses[label])
        uses.update(labels)
        _check_size(math.prod(sizes[label] for label in labels))
        steps.append((left, right, terms[left], terms[right], labels))
        terms.append(labels)
    if steps:
        steps[-1] = (*steps[-1][:4], output)
    return steps


def _check_size(cells: int) -> None:
    if cells > _LARGEST_TABLE:
        raise CausalSystemError(
            f"Expected a graph sparse enough for exact answers but found one with tables of {cells:.1e} "
            f"cells: use fewer parents per variable"
        )


def _product(left: Array, labels_left: Labels, right: Array, labels_right: Labels, labels: Labels) -> Array:
    """Multiply two tables and sum over the labels that aren't in `labels`."""
    union = dict.fromkeys((*labels_left, *labels_right))
    letter = dict(zip(union, ascii_letters, strict=False))  # tables of 26 axes and more are too large anyway
    terms = ["".join(letter[label] for label in term) for term in (labels_left, labels_right, labels)]
    result: Array = np.einsum(f"{terms[0]},{terms[1]}->{terms[2]}", left, right)
    return result
