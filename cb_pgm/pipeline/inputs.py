"""Read what a run is given beside its table: a graph and a true network, each checked against it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from cb_pgm.errors import CausalBanditError, CausalSystemError
from cb_pgm.model.bif import read_bif_model
from cb_pgm.model.discrete_model import Reward
from cb_pgm.model.system import CausalSystem
from cb_pgm.wording import count, did_you_mean, nearest
from discovery import EssentialGraph, GraphError, Marginals, estimate, repair
from discovery.documents import json_content
from discovery.estimation.settings import EstimateSettings
from discovery.graphs.graph_json import parse_graph

if TYPE_CHECKING:
    from cb_pgm.model.intervention import States
    from discovery import DiscreteTable

__all__ = [
    "UsedGraph",
    "check_against_truth",
    "estimated_graph",
    "marginals_over",
    "read_dag",
    "read_graph",
    "read_truth",
    "settable_states",
    "widened",
    "with_flipped_reward",
    "without_columns",
]

#: What ``cb-pgm discover --json`` says of a graph beside the graph.
_REMARKS = ("method", "repairs", "seconds", "data", "warnings", "bootstrap", "check")


@dataclass(frozen=True)
class UsedGraph:
    """The graph that policies work on.

    Attributes
    ----------
    graph
        The essential graph.
    method
        The method of estimation ("ges-boss", for example), or "given" for a graph from a file.
    repairs
        The changes that made it a valid essential graph, one sentence each.
    seconds
        Time of the estimation, in seconds; 0 for a graph from a file.
    warnings
        What may be wrong with the estimate, one sentence each.
    equivalent_sample_size
        What BDeu's prior was worth in rows when the graph was estimated; 1 where it had no part.
    """

    graph: EssentialGraph
    method: str
    repairs: tuple[str, ...] = ()
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    equivalent_sample_size: float = 1.0


def estimated_graph(
    table: DiscreteTable,
    settings: EstimateSettings,
    *,
    progress: Callable[[str], object] | None = None,
    interruptible: bool = False,
) -> UsedGraph:
    """Estimate the graph of a table with `discovery.estimate`, which explains `progress` and `interruptible`.

    Raises
    ------
    DiscoveryError
        If a setting is out of its range, or the graph can't be estimated from the table.
    """
    found = estimate(table, **settings.estimate_keywords(), progress=progress, interruptible=interruptible)
    return UsedGraph(
        found.graph,
        found.method,
        tuple(map(str, found.repairs)),
        found.seconds,
        found.warnings,
        found.equivalent_sample_size,
    )


def read_graph(path: str | Path, nodes: Sequence[str] | None = None) -> UsedGraph:
    """Read a graph, and repair it where it isn't a valid essential graph.

    A DAG stands for its equivalence class.

    Parameters
    ----------
    path
        JSON as written by `EssentialGraph.to_json` or ``cb-pgm discover --json``, or a network in BIF.
    nodes
        The variables that the graph must have, in the wanted order; None: those of the file, in its order.

    Raises
    ------
    GraphError
        If the file holds no graph, or a graph over other variables.
    """
    text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
    if not _is_json(text):
        found = EssentialGraph.from_dag(_dag_of_bif(path))
        return UsedGraph(widened(found, _checked_nodes(found.nodes, nodes, path)), "given")
    given = parse_graph(_without_remarks(text))
    wanted = _checked_nodes(given.nodes, nodes, path)
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(wanted)
    dag.add_edges_from(given.directed)
    if not (given.undirected or given.bidirected or given.background) and nx.is_directed_acyclic_graph(dag):
        found = EssentialGraph.from_dag(dag)
        return UsedGraph(found, "given", warnings=_open_directions(found, path))
    try:
        if not given.bidirected:
            graph = EssentialGraph(wanted, given.directed, given.undirected, given.background)
            return UsedGraph(graph, "given")
    except GraphError:
        pass  # the list of repairs names the faults
    graph, changes = repair(wanted, given.directed, given.undirected, given.bidirected)
    return UsedGraph(graph, "given", tuple(map(str, changes)))


def read_dag(path: str | Path) -> nx.DiGraph[str] | None:
    """Return the DAG of a network in BIF; None for a graph in JSON, which is an equivalence class of DAGs."""
    return (
        None if _is_json(Path(path).read_text(encoding="utf-8-sig", errors="replace")) else _dag_of_bif(path)
    )


def widened(graph: EssentialGraph, nodes: Iterable[str]) -> EssentialGraph:
    """Return the graph over `nodes`, in their order; nodes that the given graph lacks become isolated."""
    return EssentialGraph(nodes, graph.directed, graph.undirected, graph.background)


def read_truth(
    path: str | Path, reward: str, not_settable: Sequence[str] = (), hidden: Sequence[str] = ()
) -> CausalSystem:
    """Read the true network.

    Parameters
    ----------
    path
        A network in BIF.
    reward
        "node=state", or the name of a node with the states 0 and 1.
    not_settable
        Variables that can't be set.
    hidden
        Variables that are sampled but never shown, listed or set.

    Raises
    ------
    CausalSystemError
        If the file can't be read, or the reward or a hidden variable isn't in it.
    CausalBanditError
        If a variable of `not_settable` isn't in the network.
    """
    model = read_bif_model(path)
    if "=" not in reward:
        states = model.states.get(reward, ())
        if sorted(states) != ["0", "1"]:
            raise CausalSystemError(
                f"Expected NODE=STATE as the reward but found {reward!r}, which isn't a node with the states "
                f"0 and 1 in {path}: name the state to reward"
            )
        reward = f"{reward}=1"
    system = CausalSystem(model, reward=reward, hidden=hidden)
    settable = settable_states(system.states, not_settable)
    return (
        system if settable is None else CausalSystem(model, reward=reward, settable=settable, hidden=hidden)
    )


def without_columns(table: DiscreteTable, hidden: Sequence[str]) -> DiscreteTable:
    """Return the table without the columns in `hidden`, and without rows in which one of them was set.

    Raises
    ------
    CausalBanditError
        If no other column is left.
    """
    if not hidden:
        return table
    kept = [place for place, name in enumerate(table.variables) if name not in hidden]
    if not kept:
        raise CausalBanditError("Expected a column that isn't hidden but found none: hide fewer variables")
    names = [table.variables[place] for place in kept]
    done = table.interventional
    if done is not None:
        number = np.full(len(table.variables), -1, dtype=np.int16)
        number[kept] = np.arange(len(kept))
        rows = number[done.targets] >= 0
        done = replace(
            done,
            codes=done.codes[rows][:, kept],
            states={name: done.states[name] for name in names},
            rewards=None if done.rewards is None else done.rewards[rows],
            targets=number[done.targets[rows]],
        )
    return replace(
        table,
        codes=np.asfortranarray(table.codes[:, kept]),
        states={name: table.states[name] for name in names},
        interventional=done,
        constants={name: state for name, state in table.constants.items() if name not in hidden},
    )


def with_flipped_reward(system: CausalSystem) -> CausalSystem:
    """Return the same system with the reward 1 − R instead of R, for a reward R of 0 or 1."""
    reward = system.reward
    flipped = Reward(reward.parents, np.clip(1 - reward.means, 0, 1), None)
    return CausalSystem.from_model(system.model, flipped, settable=system.settable, hidden=system.hidden)


def settable_states(states: States, not_settable: Sequence[str]) -> dict[str, Sequence[str]] | None:
    """Return the states of all variables but those in `not_settable`; None, meaning all, if that is empty.

    Raises
    ------
    CausalBanditError
        If a variable of `not_settable` is unknown.
    """
    for variable in not_settable:
        if variable not in states:
            raise CausalBanditError(
                f"Expected variables that can't be set to be in the table but found {variable!r}: "
                f"{did_you_mean(variable, states)}"
            )
    if not not_settable:
        return None
    return {variable: values for variable, values in states.items() if variable not in not_settable}


def check_against_truth(table: DiscreteTable, truth: CausalSystem, path: str | Path) -> None:
    """Check that a table has the variables of `truth`, and no states beyond those of `truth`.

    Raises
    ------
    CausalBanditError
        If it doesn't; the error names the first column or state at fault.
    """
    seen = {**table.states, **{variable: (state,) for variable, state in table.constants.items()}}
    for variable, states in seen.items():
        if variable not in truth.states:
            near = nearest(variable, truth.states)
            raise CausalBanditError(
                f"Expected the variables of {path} but found the column {variable!r} in the table: "
                f"{'ignore the column' if near is None else f'did you mean {near!r}?'}"
            )
        for state in states:
            if state not in truth.states[variable]:
                raise CausalBanditError(
                    f"Expected the states of {path} but found {state!r} in the column {variable!r}: "
                    f"{did_you_mean(state, truth.states[variable])}"
                )
    for variable in truth.states:
        if variable not in seen:
            raise CausalBanditError(
                f"Expected a column for every variable of {path} but found none for {variable!r}: add "
                f"the column, or give a network without the variable"
            )


def marginals_over(table: DiscreteTable, states: States) -> Marginals:
    """Return the table's marginal frequencies over `states`, in their order; 0 for a state without rows."""
    seen = Marginals.from_table(table)
    probabilities = {}
    for variable, values in states.items():
        if variable in table.constants:
            known = {table.constants[variable]: 1.0}
        else:
            known = dict(zip(table.states[variable], seen.probabilities[variable].tolist(), strict=True))
        probabilities[variable] = np.array([known.get(value, 0.0) for value in values])
    return Marginals(probabilities, rows=seen.rows, reward_mean=seen.reward_mean)


def _dag_of_bif(path: str | Path) -> nx.DiGraph[str]:
    model = read_bif_model(path)
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(model.variables)
    dag.add_edges_from(
        (model.variables[parent], child)
        for child, parents in zip(model.variables, model.parents, strict=True)
        for parent in parents
    )
    return dag


def _checked_nodes(found: Sequence[str], nodes: Sequence[str] | None, path: str | Path) -> tuple[str, ...]:
    """Return the nodes in the wanted order, or raise GraphError with the first node at fault."""
    if nodes is None:
        return tuple(found)
    for node in found:
        if node not in nodes:
            raise GraphError(
                f"Expected the same variables but found {node!r} in {path}: {did_you_mean(node, nodes)}"
            )
    for node in nodes:
        if node not in found:
            raise GraphError(
                f"Expected the same variables but found no {node!r} in {path}: add it to its nodes"
            )
    return tuple(nodes)


def _open_directions(graph: EssentialGraph, path: str | Path) -> tuple[str, ...]:
    """Return the warning that a DAG has directions which observations can't show; none if it hasn't."""
    if not graph.undirected:
        return ()
    return (
        f"{path} is a DAG and stands for its equivalence class, which leaves "
        f'{count(len(graph.undirected), "direction")} open: list directions that you know as "background" '
        "of undirected edges",
    )


def _is_json(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))


def _without_remarks(text: str) -> str:
    """Return the graph alone where the text is what ``cb-pgm discover --json`` printed."""
    try:
        content = json_content(text)
    except ValueError:
        return text
    if not isinstance(content, dict):
        return text
    return json.dumps({key: value for key, value in content.items() if key not in _REMARKS})
