"""Putting things into a library for one call, and reading its graphs."""

import types

import numpy as np
import pytest

from discovery.estimation.causal_learn import MixedGraph, patched, read_matrix


def test_what_was_put_in_is_taken_out_again_also_when_the_call_raises():
    library = types.ModuleType("library")
    library.score = "its own"
    with patched((library, {"score": "ours"})):
        assert library.score == "ours"
    assert library.score == "its own"
    with pytest.raises(ZeroDivisionError), patched((library, {"score": "ours"})):
        1 / 0  # noqa: B018
    assert library.score == "its own"


def test_names_that_the_library_does_not_have_are_not_left_behind():
    library = types.ModuleType("library")
    with patched((library, {"moved": "ours"})):
        assert not hasattr(library, "moved")
    assert not hasattr(library, "moved")


def test_every_kind_of_edge_is_read_from_the_matrix():
    matrix = np.zeros((5, 5), dtype=int)
    matrix[0, 1], matrix[1, 0] = -1, 1
    matrix[2, 1], matrix[1, 2] = -1, 1
    matrix[2, 3] = matrix[3, 2] = -1
    matrix[3, 4] = matrix[4, 3] = 1
    assert read_matrix(matrix, "a note") == MixedGraph(((0, 1), (2, 1)), ((2, 3),), ((3, 4),), ("a note",))
