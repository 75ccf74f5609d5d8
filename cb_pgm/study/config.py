"""The TOML file of a study.

A study plays every policy on every system, with every graph, for every horizon, several times. Keys at the
top of the file apply to the whole study. Each [[system]], [[graph]] and [[policy]] table adds one choice. A
key of such a table may have a list as its value: the table then stands for one choice per value, and with
several lists for one choice per combination. An unknown key is an error.

    title = "Estimated against oracle graphs"
    seed = 1
    runs = 10
    horizons = [10_000, 100_000]
    failure_prob = 0.05

    [[system]]
    network = "data/asia.bif"
    reward = "xray=yes"

    [[system]]
    instance = "tree"
    n = [20, 100]
    n_states = 3

    [[graph]]
    source = "oracle"

    [[graph]]
    source = "estimated"
    method = ["ges", "pc"]
    rows = [300, 3000]

    [[policy]]
    name = "cn-ucb"

    [[policy]]
    name = "my_package.my_module:MyPolicy"
    label = "mine"

Keys of the study
-----------------
title : string, default ""
    The title of the study in its report.
seed : whole number from 0, default 0
    The source of all randomness. The numbers of a cell depend on the seed and on that cell only, so adding a
    policy, a system or a run changes no other number.
runs : whole number from 1, default 1
    The number of repetitions of every cell. Each has its own draws, and a random instance is drawn anew.
horizons : whole number from 1, or a list of them, default 100_000
    The numbers of rounds to play.
failure_prob : number between 0 and 1, default 0.05
    δ, the probability with which a policy may identify a wrong variable.

Keys of [[system]], of which at least one is required: a network
----------------------------------------------------------------
network : string, required
    The path of a BIF file, relative to the folder of the TOML file or to the current folder.
reward : string "node=state", required
    The reward is 1 in rows where this node has this state, else 0. The node must be a leaf of the network. It
    is removed from the variables.
label : string, default the file's name and the reward
    The name of the system in tables and figures.
rows : whole number from 0, default the most rows of any [[graph]], or 0
    The number of rows, drawn from the system with nothing set, that policies learn from before their first
    pull as far as they can. A policy on a graph that has rows of its own starts from these. 0: policies start
    without any.

Keys of [[system]]: a table, to which a model is fitted
------------------------------------------------------
table : string, required
    The path of a table of observations, relative to the folder of the TOML file or to the current folder. The
    system is the model that `cb-pgm run` fits to it for a rehearsal. From Python also a data frame.
reward : string, required
    A numeric column, or "column=state".
method : "ges-boss", "ges", "boss", "pc" or "chow-liu", default "ges-boss"
    The search for the graph of the model.
knowledge : string, default none
    The path of a file with what is known of the graph, as for cb-pgm run.
not_settable : list of strings, default none
    The variables that can't be set.
rows : whole number from 0, default the rows of the table, at most 10_000
    As for a network. The rows of the table in which a variable was set come along, each drawn anew.
ignore, keep, na : lists of strings, default as for cb-pgm run
    As its flags of these names. They are settings of one system, not choices.
missing, bins, bin_rule, merge_rare, weights : default as for cb-pgm run
    As its flags of these names.
intervention_column, separator, encoding, skip_rows : default as for cb-pgm run
    As its flags of these names.
label : string, default the file's name and the reward
    The name of the system in tables and figures.

Keys of [[system]]: a random instance
-------------------------------------
instance : string, required
    The family of `cb_pgm.instances`: "tree", "forest", "chordal" or "random_dag"; one of the families of the
    paper's lower bounds, "lower_bound_effect_gap" and "lower_bound_reward_gap"; or one that breaks an
    assumption, "many_parents", "proxy", "hidden_dag", "interaction" or "confounded"; or "random_tables", all
    of it random.
n : whole number from 1, required where it has no default: 8 for "many_parents" and "random_tables", 20 for
    "proxy"
    The number of variables.
n_states : whole number, default 3 (2 for "proxy" and "hidden_dag"); required for the lower bounds
    K, the number of states of each variable; in the lower bounds the number of states that can be set.
label : string, default the family with its keys
    The name of the system in tables and figures.
rows : whole number from 0
    As for a network.

"tree", "forest", "chordal" and "random_dag" also have the keys

copy_probability : number from 0 to 1, default 0.95 or the smallest that reaches effect_gap
    The probability with which a variable copies the state of one of its parents; otherwise its state is
    uniform.
noise : number, or "bernoulli", default 1.0
    The standard deviation of the Gaussian noise of the reward, or "bernoulli" for rewards of 0 and 1.
reward_gap : number, default not fixed
    Δ of Assumption 3, in units of the reward. The means of the reward are scaled to have exactly this gap.
effect_gap : number, default not fixed
    ε of Assumption 2, a difference of probabilities. The effect gap is at least this.
n_parents : whole number from 1, default 1
    The number of parents of the reward.

"tree" also has

shape : "recursive", "chain", "star" or "binary", default "recursive"
    The parent of each variable: a random earlier one, the previous one, the root, or that of a binary tree.
reward_depth : whole number from 0, default any
    The number of edges between the root and the reward's parents.

"forest" also has

n_components : whole number from 1, default one per five variables
    The number of chain components.

"chordal" also has

max_clique : whole number from 2, default 4
    The size of the largest clique.

"random_dag" also has

expected_degree : number, default 2.0
    The expected number of edges at a variable, in and out together.
max_parents : whole number, default 8
    The largest number of parents of a variable.

"many_parents", "proxy", "hidden_dag", "interaction" and "confounded" are systems in which the reward has
several causes, or there are hidden ones. The first three have n, n_states and copy_probability,
"many_parents" and "hidden_dag" also n_parents, "hidden_dag" also expected_degree, and

n_hidden, n_children : whole numbers from 1, default 2
    "hidden_dag": the number of hidden variables, and of the observed variables that each of them causes.
    Where it is more than 1, no graph over the observed variables is true.
hidden_weight : number from 0 to 1, default 0.4
    "hidden_dag": the share of the reward's mean that depends on the hidden variables.

n_others : whole number from 0, default 0 for "interaction", 4 for "indication" and "selection"
    The number of variables besides those that matter; those of "interaction" have a copy_probability.
drug_taken : number from 0 to 1, default 0.0
    "interaction": the probability with which the drug is taken by itself.
n_kinds : whole number from 2, default 3
    "informed_choice": the number of kinds of patients, and of treatments.
skill : number from 0 to 1, default 0.9
    "informed_choice": the probability with which nature's treatment is the one for the patient's kind.
cause_agreement : number from 0 to 1, default 0.9
    "confounded": the probability with which the hidden cause has the state of its observed parent.
proxy_agreement : number from 0 to 1, default 0.87 for "confounded", 0.8 for "proxy"
    The probability with which the proxy has the state of the hidden cause.

"indication", "selection" and "simpson" are systems whose observations mislead; "xor" has n and n_parents, and
only setting all parents wins. In "hidden_chain", with n, copy_probability and reward_means, and in
"informed_choice" do() is the best arm.

"random_tables" has n, n_states, n_parents and

parent_effect : number from 0 to 1, default 0.7
    How much the distribution of a variable depends on its parents.
edge_probability : number from 0 to 1, default 2/n
    The probability of an edge between two variables.

"factors" has reward_gap, not_settable and

states : pairs of a name and its states, required, from Python only
    The variables, of which one decides the reward.

The two lower bounds also have

instance_number : whole number from 0 to n·K, default random from 1
    The number of the instance in its family; in instance 0 no arm is better than the others.
horizon, reward_gap : exactly one of them is required
    T, for which the best arm's mean is ¼·sqrt(nK/T), or that mean itself.

Keys of [[graph]], default source = "oracle"
--------------------------------------------
These apply to policies that work on a graph; the others are played once, whatever the graphs.

source : "oracle" or "estimated", required
    The true essential graph of the system, or a graph estimated from sampled rows. Where hidden common causes
    leave no true graph, nothing is played on it: results.csv then has the reason in the column left_out.
method : "ges-boss", "ges", "boss", "pc" or "chow-liu", default "ges-boss"
    The method of estimation, for source = "estimated".
rows : whole number from 20, default 10_000 for "estimated"
    The number of sampled rows, from which the marginals of the variables are estimated too. With source =
    "oracle" and no rows the marginals are exact.
label : string, default the source or method and the rows
    The name of the graph in tables and figures.

Keys of [[policy]], of which at least one is required
-----------------------------------------------------
name : string, required
    A policy of `cb_pgm.policies.registry`, as listed by cb-pgm run --help. "module:attribute" is a policy of
    your own: either a subclass of `cb_pgm.Policy`, which is called with (states, noise_scale=…, settable=…),
    or a function that takes a `PolicyContext` and returns a policy. It is played once per graph. Such a
    name runs code: it is imported from where Python would import it (sys.path) and from nowhere else, so play
    only files that you trust. A name that can't be imported is refused before anything is played. Further
    keys are passed to it as keywords.
max_parents : whole number from 1, default the reward's number of parents
    The largest number of parents of the reward that the policy considers.
label : string, default the name
    The name of the policy in tables and figures.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cb_pgm import instances
from cb_pgm.decoding import Check, decoded
from cb_pgm.errors import PolicyError, StudyError
from cb_pgm.instances.copy_model import CopyOptions
from cb_pgm.policies.registry import POLICIES, own_policy
from cb_pgm.simulation import MOST_OBSERVATIONS
from cb_pgm.study.parts import Part
from cb_pgm.study.tables import LIST_KEYS, TABLE_KEYS, problem_of
from discovery.documents import toml_content
from discovery.estimation.settings import METHODS
from discovery.table.frame import read_frame
from discovery.wording import did_you_mean, listed

__all__ = ["Cell", "Part", "Study"]

Kind = TypeVar("Kind")

_LARGEST = 10**15  # float64 tells all whole numbers up to this
_MOST_PARTS = 100_000  # choices of one kind
_MOST_CELLS = 10_000_000
#: Parameters that a file can't give: the study seeds an instance, and a list stands for several systems.
_NOT_IN_A_FILE = ("seed", "reward_means", "weights")


def _whole(least: int = 1, most: int = _LARGEST) -> Check:
    words = f"a whole number from {least} to {most:,}"
    return lambda value: None if least <= value <= most else words


def _one_of(choices: Iterable[str]) -> Check:
    known = tuple(choices)
    return lambda value: None if value in known else f"one of {listed(known, most=len(known), last='or')}"


def _probability(value: float) -> str | None:
    return None if 0 < value < 1 else "a number between 0 and 1"


def _some(value: list[Any]) -> str | None:
    return None if value else "at least one"


Count = Annotated[int, _whole()]
Rows = Annotated[int, _whole(20)]
Tables = list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class _Keys:
    """The keys of a file; those of its tables, below, are checked once for each choice."""

    title: str = ""
    seed: Annotated[int, _whole(0, 2**128)] = 0
    runs: Count = 1
    horizons: Annotated[list[Count], _some] = field(default_factory=lambda: [100_000])
    failure_prob: Annotated[float, _probability] = 0.05
    system: Tables = field(default_factory=list)
    graph: Tables = field(default_factory=lambda: [{"source": "oracle"}])
    policy: Tables = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class _System:
    label: str = ""
    rows: Annotated[int, _whole(0)] = 0


@dataclass(frozen=True, kw_only=True)
class _Network(_System):
    network: Any  # a path, also as a value from Python
    reward: str


@dataclass(frozen=True, kw_only=True)
class _TableKeys(_System):
    table: Any  # a path, or a data frame from Python
    reward: str
    method: Annotated[str, _one_of(METHODS)] = METHODS[0]


@dataclass(frozen=True, kw_only=True)
class _Graph:
    source: Annotated[str, _one_of(("oracle", "estimated"))]
    rows: Rows = 20
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class _Estimated(_Graph):
    method: Annotated[str, _one_of(METHODS)] = METHODS[0]


@dataclass(frozen=True, kw_only=True)
class _Policy:
    name: str
    label: str = ""
    max_parents: Count = 1


def _with_keys(kind: type[Any], required: Iterable[str], optional: Iterable[str]) -> type[Any]:
    """Return the dataclass with further keys, whose values are checked where they are used."""
    keys: list[Any] = [(key, Any) for key in required]
    keys += [(key, Any, field(default=None)) for key in optional]
    own = {"__module__": __name__}
    return make_dataclass(kind.__name__, keys, bases=(kind,), namespace=own, kw_only=True, frozen=True)


_Table = _with_keys(_TableKeys, [], [key for key in TABLE_KEYS if key not in _TableKeys.__dataclass_fields__])


@dataclass(frozen=True)
class Cell:
    """One point of the grid: one run of a policy on a system, for one horizon.

    Attributes
    ----------
    system, graph, policy
        The parts; the graph is None for a policy that needs none.
    horizon
        The number of rounds.
    run
        The number of the repetition, from 0.
    failure_prob
        δ of the policy.
    """

    system: Part
    graph: Part | None
    policy: Part
    horizon: int
    run: int
    failure_prob: float

    @property
    def key(self) -> str:
        """The cell as JSON: its identity, on which its random draws depend."""
        graph = None if self.graph is None else self.graph.settings
        return json.dumps(
            [self.system.identity, graph, self.policy.settings, self.horizon, self.run, self.failure_prob]
        )


@dataclass(frozen=True)
class Study:
    """A grid of cells and its seed.

    Attributes
    ----------
    title, seed, runs, horizons, failure_prob
        As in the file; see the module's docstring.
    systems, graphs, policies
        One part per choice, with lists of values multiplied out.
    """

    title: str
    seed: int
    runs: int
    horizons: tuple[int, ...]
    failure_prob: float
    systems: tuple[Part, ...]
    graphs: tuple[Part, ...]
    policies: tuple[Part, ...]

    @classmethod
    def from_toml(cls, path: str | Path) -> Study:
        """Read a study from a TOML file and check every key and value.

        Raises
        ------
        StudyError
            If a key or value is wrong; the message names the first one and the nearest known key.
        OSError
            If the file can't be read.
        """
        path = Path(path)
        try:
            content = toml_content(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise StudyError(f"Expected a study in TOML but found {error} in {path}") from None
        return cls.from_dict(content, where=str(path), folder=path.parent)

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], *, where: str = "the study", folder: Path = Path()
    ) -> Study:
        """Return the study of a parsed TOML file.

        Parameters
        ----------
        content
            The keys and tables of the file.
        where
            The name of the file in errors.
        folder
            The folder in which networks are looked for first, before the current one.

        Raises
        ------
        StudyError
            As in `from_toml`.
        """
        horizons = content.get("horizons", [100_000])
        several = {"horizons": horizons if isinstance(horizons, list) else [horizons]}
        keys = _decoded(_Keys, {**content, **several}, where)
        graphs = _parts(keys.graph, "graph", where, _graph)
        rows = max(graph.get("rows", 0) for graph in graphs)
        study = cls(
            title=keys.title,
            seed=keys.seed,
            runs=keys.runs,
            horizons=tuple(keys.horizons),
            failure_prob=keys.failure_prob,
            systems=_parts(keys.system, "system", where, lambda part, at: _system(part, at, folder, rows)),
            graphs=graphs,
            policies=_parts(keys.policy, "policy", where, _policy),
        )
        if study.n_cells() > _MOST_CELLS:
            raise StudyError(
                f"Expected at most {_MOST_CELLS:,} cells but found {study.n_cells():,} in {where} (systems × "
                f"runs × graphs × policies × horizons): split it into several studies"
            )
        for choices in (*study._identities(), study.horizons):
            if len(set(map(json.dumps, choices))) < len(choices):
                raise StudyError(
                    f"Expected every system, graph, policy and horizon once but found one twice in {where}: "
                    f"remove one"
                )
        return study

    def n_cells(self) -> int:
        """Return the number of cells, without making them."""
        graphs = sum(len(self.graphs) if needs_graph(policy) else 1 for policy in self.policies)
        return len(self.systems) * self.runs * graphs * len(self.horizons)

    def cells(self) -> Iterator[Cell]:
        """Yield every cell; policies that need no graph are played once, not once per graph."""
        # Cells that share an estimated graph come one after the other, so that it is estimated once.
        for system, run, graph in itertools.product(self.systems, range(self.runs), (*self.graphs, None)):
            for policy, horizon in itertools.product(self.policies, self.horizons):
                if needs_graph(policy) == (graph is not None):
                    yield Cell(system, graph, policy, horizon, run, self.failure_prob)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON, with lists of settings multiplied out."""
        parts = {"system": self.systems, "graph": self.graphs, "policy": self.policies}
        return {
            "title": self.title,
            "seed": self.seed,
            "runs": self.runs,
            "horizons": list(self.horizons),
            "failure_prob": self.failure_prob,
        } | {
            kind: [{"label": part.label, **dict(part.settings)} for part in own]
            for kind, own in parts.items()
        }

    def cold(self) -> Study:
        """Return the study in which policies start without any rows."""
        return replace(self, systems=tuple(_with_rows(part, 0) for part in self.systems))

    def fingerprint(self) -> str:
        """Return as JSON everything on which the results depend."""
        return json.dumps([self.seed, self.runs, self.horizons, self.failure_prob, *self._identities()])

    def _identities(self) -> list[list[tuple[tuple[str, Any], ...]]]:
        return [[part.identity for part in parts] for parts in (self.systems, self.graphs, self.policies)]


def is_oracle(policy: Part) -> bool:
    """Return whether the policy knows the true model, as a lower limit for the regret of the others."""
    name = policy["name"]
    return name in POLICIES and POLICIES[name].is_oracle


def needs_graph(policy: Part) -> bool:
    """Return whether the policy is played once per graph; a user's own policy always is."""
    name = policy["name"]
    return name not in POLICIES or POLICIES[name].needs_graph


def _parts(
    tables: Tables, kind: str, where: str, part_of: Callable[[dict[str, Any], str], Part]
) -> tuple[Part, ...]:
    """Return a part for each choice of the tables of a kind, in which lists stand for several choices."""
    if not tables:
        raise StudyError(f"Expected at least one [[{kind}]] in {where} but found none: add one")
    values = [
        [
            value if isinstance(value, list) and key not in LIST_KEYS else [value]
            for key, value in table.items()
        ]
        for table in tables
    ]
    choices = sum(math.prod(map(len, lists)) for lists in values)
    if choices > _MOST_PARTS:
        raise StudyError(
            f"Expected at most {_MOST_PARTS:,} choices of [[{kind}]] but found lists that multiply to "
            f"{choices:,} in {where}: shorten them"
        )
    return tuple(
        part_of(dict(zip(table, chosen, strict=True)), f"[[{kind}]] number {number} of {where}")
        for number, (table, lists) in enumerate(zip(tables, values, strict=True), start=1)
        for chosen in itertools.product(*lists)
    )


def _system(part: dict[str, Any], where: str, folder: Path, rows: int) -> Part:
    """Return a system; policies start from `rows` rows of it, or from a table's, unless it says how many."""
    kinds = {"network": _network, "table": _table, "instance": _instance}
    chosen = [kind for kind in kinds if kind in part]
    if len(chosen) != 1:
        raise StudyError(
            f"Expected one of network, table and instance in {where}: a BIF file, a table to fit a model to, "
            f"or a random instance"
        )
    system = kinds[chosen[0]](part, where, folder)
    if "table" in part:
        rows = min(problem_of(system).table.n_rows, MOST_OBSERVATIONS)
    return _with_rows(system, part.get("rows", rows))


def _with_rows(system: Part, rows: int) -> Part:
    others = [(key, value) for key, value in system.settings if key != "rows"]
    return replace(system, settings=(*others, *([("rows", rows)] if rows else [])))


def _network(part: dict[str, Any], where: str, folder: Path) -> Part:
    _decoded(_Network, part, where)
    path = _found(part["network"], where, folder)
    rows = f", {part['rows']} rows" if "rows" in part else ""
    system = _labelled(part | {"network": path.as_posix()}, f"{path.stem} {part['reward']}{rows}")
    return replace(system, content=hashlib.sha256(path.read_bytes()).hexdigest())


def _table(part: dict[str, Any], where: str, folder: Path) -> Part:
    _decoded(_Table, part, where)
    part = {key: tuple(value) if isinstance(value, list) else value for key, value in part.items()}
    if isinstance(part["table"], str | os.PathLike):
        path = _found(part["table"], where, folder)
        content, frame, name = hashlib.sha256(path.read_bytes()).hexdigest(), None, path.stem
        part["table"] = path.as_posix()
    else:
        content, frame, name = read_frame(part["table"]).sha256, part["table"], "data frame"
        part["table"] = f"data frame {content}"
    system = replace(_labelled(part, f"{name} {part['reward']}"), content=content, frame=frame)
    problem_of(system)  # a table that can't be used is refused before anything is played
    return system


def _instance(part: dict[str, Any], where: str, _: Path) -> Part:
    name = part["instance"]
    if said := _one_of(instances.__all__)(name):
        raise StudyError(f"Expected {said} at instance but found {name!r} in {where}")
    keys = {"instance": True} | _instance_keys(name)
    optional = [key for key, required in keys.items() if not required]
    _decoded(_with_keys(_System, [key for key in keys if key not in optional], optional), part, where)
    settings = ", ".join(f"{key}={value}" for key, value in part.items() if key not in ("instance", "label"))
    return _labelled(part, f"{name}({settings})")


def _instance_keys(name: str) -> dict[str, bool]:
    """Return the keys of a family of instances, each with whether it is required, from its signature."""
    keys: dict[str, bool] = {}
    for parameter in inspect.signature(getattr(instances, name)).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            keys |= dict.fromkeys(CopyOptions.__annotations__, False)
        elif parameter.name == "instance":
            keys["instance_number"] = False  # in a file, instance is the family
        else:
            keys[parameter.name] = parameter.default is inspect.Parameter.empty
    return {key: required for key, required in keys.items() if key not in _NOT_IN_A_FILE}


def _graph(part: dict[str, Any], where: str) -> Part:
    source = part.get("source")
    _decoded(_Estimated if source == "estimated" else _Graph, part, where)
    if source == "oracle":
        return _labelled(part, f"oracle {part['rows']} rows" if "rows" in part else "oracle")
    part = {"source": source, "method": part.get("method", METHODS[0])} | part
    part["rows"] = part.get("rows", 10_000)
    return _labelled(part, f"{part['method']} {part['rows']} rows")


def _policy(part: dict[str, Any], where: str) -> Part:
    name = part.get("name")
    own = {key: value for key, value in part.items() if key not in _Policy.__dataclass_fields__}
    if not isinstance(name, str) or (name not in POLICIES and ":" not in name):
        raise StudyError(
            f"Expected a policy's name, or module:attribute for one of your own, but found {name!r} in "
            f"{where}: {did_you_mean(name, POLICIES)}"
        )
    if name in POLICIES:
        _decoded(_Policy, part, where)
        return _labelled(part, name)
    _decoded(_Policy, {key: value for key, value in part.items() if key not in own}, where)
    try:
        own_policy(name, own)
    except PolicyError as error:
        raise StudyError(f"{error}, in {where}") from None
    settings = ", ".join(f"{key}={value}" for key, value in own.items())
    return _labelled(part, f"{name}({settings})" if settings else name)


def _found(name: str | os.PathLike[str], where: str, folder: Path) -> Path:
    """Return the path of a file, relative to the folder or to the current one."""
    if isinstance(name, str | os.PathLike):
        for path in (folder / name, Path(name)):
            if path.is_file():
                return path
    raise StudyError(f"Expected a file but found none at {str(name)!r} for {where}")


def _labelled(part: dict[str, Any], label: str) -> Part:
    """Return the part; its label isn't a setting, so that a cell's identity and draws don't depend on it."""
    settings = tuple((key, value) for key, value in part.items() if key != "label")
    return Part(part.get("label", label), settings)


def _decoded(kind: type[Kind], content: Mapping[str, Any], where: str) -> Kind:
    """Return the value that the keys stand for; StudyError where one is unknown, wrong or missing."""
    try:
        return decoded(kind, content)
    except ValueError as error:
        raise StudyError(f"E{str(error)[1:]}, in {where}") from None
