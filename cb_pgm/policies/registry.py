"""The registry of policies by name.

A new policy is a class in a file of this package and a line in `POLICIES`. Its module is imported only when
the policy is constructed, so listing the names imports nothing heavy.

"module:attribute" names a policy of your own: a subclass of `Policy`, or a function that takes a
`PolicyContext` and returns a policy. Such a name imports code, from where Python would import it
(``sys.path``) and from nowhere else. Settings are keywords with Python
literals as values, as in "my_module:MyPolicy(width=2)". So such a name may come from a user and from a
configuration that a user wrote, but never from a result that is read, such as the file of a session: there
only names that are `is_installed` count.

An installed package adds a policy under a name of its own by an entry point in the group `PLUG_INS`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cb_pgm.errors import PolicyError
from discovery.wording import did_you_mean, listed, nearest

if TYPE_CHECKING:  # `--help` lists the policies, and importing these would slow it down
    from importlib.metadata import EntryPoint

    from cb_pgm.policies.base import Policy
    from cb_pgm.policies.context import PolicyContext

__all__ = ["PLUG_INS", "POLICIES", "PolicyKind", "is_installed", "make_policy", "own_policy", "policy_kind"]

#: The entry-point group in which installed packages offer policies.
PLUG_INS = "cb_pgm.policies"


@dataclass(frozen=True)
class PolicyKind:
    """A registered policy.

    Attributes
    ----------
    home
        "module:Class", with a module of this package.
    summary
        Its description for `--help`, one line.
    settings
        Keyword arguments of the class that this name implies.
    needs_graph
        Whether it needs an essential graph.
    is_oracle
        Whether it is an oracle that knows the true system, as a reference for the others.
    identifies
        Whether it identifies the reward's parents.
    sets_several
        Whether it sets several variables at once, whatever it has identified.
    """

    home: str
    summary: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    needs_graph: bool = False
    is_oracle: bool = False
    identifies: bool = True
    sets_several: bool = False


def make_policy(name: str, context: PolicyContext, **settings: Any) -> Policy:
    """Construct the policy of that name from `context`.

    Parameters
    ----------
    name
        A name from `POLICIES`, that of an installed plug-in, or "module:attribute" for one of your own.
    context
        What the policy may need to know.
    **settings
        Further keywords of a policy of your own, besides those in its name.

    Raises
    ------
    PolicyError
        If there is no such policy, or it needs a graph, gaps or a truth that the context doesn't have.
    """
    if name not in POLICIES and (":" in name or is_installed(name)):
        return _own_policy(name, context, settings)
    kind = policy_kind(name)
    module, _, attribute = kind.home.partition(":")
    made: type[Policy] = getattr(import_module(f"cb_pgm.policies.{module}"), attribute)
    return made.from_context(context, **kind.settings)


def policy_kind(name: str) -> PolicyKind:
    """Return the registry entry of that name, or raise a PolicyError that lists all names.

    A policy of your own is imported. It counts as one that works on a graph, and is played once for each,
    unless it is made from a context (`Policy.from_context`) as policies without a graph are.
    """
    if name not in POLICIES and (":" in name or is_installed(name)):
        made, _ = own_policy(name)
        summary = (inspect.getdoc(made) or "a policy of your own").partition("\n")[0].rstrip(".")
        return PolicyKind(name, summary, needs_graph=not _is_graph_free(made))
    if name not in POLICIES:
        names = listed(POLICIES, most=len(POLICIES), last="or")
        near = nearest(name, POLICIES)
        advice = "" if near is None else f": did you mean {near!r}?"
        raise PolicyError(f"Expected the policy {names} but found {name!r}{advice}")
    return POLICIES[name]


def _is_graph_free(made: Any) -> bool:
    """Return whether a class is made as `Policy` itself is, or as a registered policy without a graph."""
    maker = next((kind for kind in getattr(made, "__mro__", ()) if "from_context" in vars(kind)), None)
    if maker is None:
        return False
    home = f"{maker.__module__}:{maker.__name__}".removeprefix("cb_pgm.policies.")
    return home in ("base:Policy", *(kind.home for kind in POLICIES.values() if not kind.needs_graph))


def is_installed(name: str) -> bool:
    """Return whether a policy of that name comes with this package or an installed plug-in.

    Asking imports nothing, whatever the name.
    """
    return name in POLICIES or _plug_in(name) is not None


def own_policy(name: str, settings: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
    """Import the policy named "module:attribute" or "module:attribute(key=value)", and return its keywords.

    Parameters
    ----------
    name
        The name, or that of an installed plug-in.
    settings
        Further keywords.

    Returns
    -------
    made, keywords
        The class or function, and all keywords for it.

    Raises
    ------
    PolicyError
        If it can't be imported, isn't a class or function, or doesn't take a keyword.
    """
    plug_in = _plug_in(name)
    module, _, call = (name if plug_in is None else plug_in.value).partition(":")
    attribute, keywords = _parsed_call(call.strip(), name)
    keywords |= dict(settings or {})
    try:
        made: Any = import_module(module.strip())
        for part in attribute.split("."):
            made = getattr(made, part)
    except Exception as error:  # whatever the user's own module raises when it is imported
        raise PolicyError(
            f"Expected a policy at {name!r} but found {type(error).__name__}: {error}: check the name, and "
            f"that Python can import the module (PYTHONPATH)"
        ) from error
    if not callable(made):
        raise PolicyError(f"Expected a class or a function at {name!r} but found {made!r}: name one")
    parameters = inspect.signature(made).parameters
    if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        for keyword in keywords:
            if keyword not in parameters:
                raise PolicyError(
                    f"Expected settings of {name!r} but found {keyword!r}: "
                    f"{did_you_mean(keyword, parameters)}"
                )
    return made, keywords


def _plug_in(name: str) -> EntryPoint | None:
    from importlib.metadata import entry_points  # late: a tenth of the time of `--help`

    return next(iter(entry_points(group=PLUG_INS, name=name)), None)


def _parsed_call(call: str, name: str) -> tuple[str, dict[str, Any]]:
    """Return the attribute and the keywords of "attribute" or "attribute(key=literal, …)"."""
    try:
        tree = ast.parse(call, mode="eval").body
        if not isinstance(tree, ast.Call):
            return ast.unparse(tree), {}
        if tree.args or any(keyword.arg is None for keyword in tree.keywords):
            raise ValueError("only keywords are settings")
        keywords = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in tree.keywords}
        return ast.unparse(tree.func), keywords
    except (SyntaxError, ValueError) as error:
        raise PolicyError(
            f"Expected a policy as module:attribute or module:attribute(key=value) but found {name!r} "
            f"({error}): write it so"
        ) from None


def _own_policy(name: str, context: PolicyContext, settings: Mapping[str, Any]) -> Policy:
    from cb_pgm.policies.base import Policy  # imported late: the command line lists names without it

    made, keywords = own_policy(name, settings)
    if isinstance(made, type) and issubclass(made, Policy):
        return made.from_context(context, **keywords)
    policy = made(context, **keywords)
    if not isinstance(policy, Policy):
        raise PolicyError(f"Expected {name!r} to return a policy but found {policy!r}: return one")
    return policy


#: name → kind, in the order in which lists show them.
POLICIES: Mapping[str, PolicyKind] = {
    "cn-ucb": PolicyKind(
        "cn_ucb:CNUCB",
        "identify the reward's causes by screening and queries on the graph, then MOSS over their values",
        needs_graph=True,
    ),
    "cn-ucb-sequential": PolicyKind(
        "cn_ucb:CNUCB",
        "cn-ucb with the queries first and screening only as a guard",
        settings={"evidence": "sequential"},
        needs_graph=True,
    ),
    "cn-ucb-fixed": PolicyKind(
        "cn_ucb:CNUCB",
        "cn-ucb with the fixed number of pulls of each arm of Lu et al. (2021)",
        settings={"evidence": "fixed"},
        needs_graph=True,
    ),
    "cn-ucb-printed": PolicyKind(
        "baselines.printed:PrintedCNUCB",
        "Algorithm 1, 2 or 5 of Lu et al. (2021) with plain UCB, as printed but for its errors",
        needs_graph=True,
    ),
    "screening": PolicyKind(
        "posterior:ScreeningUCB",
        "sample from a posterior over the reward's causes, and test them, without a graph",
    ),
    "posterior-sampling": PolicyKind(
        "posterior:PosteriorSampling",
        "the same without any test or doubt: fast where its model holds, else without end wrong",
        identifies=False,
    ),
    "ucb": PolicyKind("index_policies:UCB", "UCB over single-variable interventions", identifies=False),
    "moss": PolicyKind(
        "index_policies:MOSS", "anytime MOSS over single-variable interventions", identifies=False
    ),
    "thompson": PolicyKind(
        "thompson:ThompsonSampling", "Thompson sampling over single-variable interventions", identifies=False
    ),
    "kl-ucb": PolicyKind(
        "index_policies:KLUCB", "KL-UCB over single-variable interventions", identifies=False
    ),
    "bbb": PolicyKind(
        "baselines.bbb:BackdoorBandit",
        "start from a table's back-door estimates of all arms, then Thompson sampling (rewards in [0, 1])",
        identifies=False,
    ),
    "ucb-plus": PolicyKind(
        "baselines.ucb_plus:UCBPlus",
        "UCB+ over random interventions on three variables, enough for the number of causes given",
        identifies=False,
        sets_several=True,
    ),
    "ucb-plus-unknown-k": PolicyKind(
        "baselines.ucb_plus:UnknownKUCBPlus",
        "UCB+ without the number of causes, in phases that halve the interventions",
        identifies=False,
        sets_several=True,
    ),
    "raps": PolicyKind(
        "baselines.raps:RAPS",
        "identify the reward's causes by interventions on random variables, then UCB over their values",
    ),
    "learn-graph": PolicyKind(
        "baselines.learn_graph:LearnGraphThenUCB",
        "orient the whole graph, then identify the reward's causes on it, then MOSS over their values",
        needs_graph=True,
    ),
    "causal-ucb": PolicyKind(
        "baselines.causal_ucb:CausalUCB",
        "an oracle that knows the true graph and its probabilities: C-UCB, for comparison",
        is_oracle=True,
        identifies=False,
    ),
    "pomis": PolicyKind(
        "baselines.pomis:POMISBandit",
        "an oracle that knows the true graph and its hidden causes: MOSS over possibly-optimal sets",
        is_oracle=True,
        identifies=False,
    ),
    "oracle": PolicyKind(
        "baselines.oracle:OracleUCB",
        "an oracle that knows the reward's causes: MOSS over their values, for comparison",
        is_oracle=True,
        identifies=False,
    ),
}
