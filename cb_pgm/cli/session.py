"""`cb-pgm session`: a real experiment, one verb at a time."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from cb_pgm.cli.console import note, waiting
from cb_pgm.cli.flags import add_flags, count, policy_name, probability, real, real_policy, settings_of
from cb_pgm.cli.options import (
    POLICY_REST,
    REAL,
    TABLE,
    TABLE_HELP,
    add_result,
    add_table_rest,
    check_reward_scale,
)
from cb_pgm.cli.usage import Parser, UsageError
from cb_pgm.files import json_text, print_text
from cb_pgm.pipeline.settings import RunSettings

if TYPE_CHECKING:
    from cb_pgm.session.settings import SessionSettings
    from cb_pgm.session.state import OpenPull
    from cb_pgm.session.status import Status

__all__ = ["add_arguments", "execute"]


_FORMULA = ("=", "+", "-", "@")  # with these a spreadsheet begins one


def add_arguments(parser: Parser) -> None:
    """Add the verbs and their options."""
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, title="verbs")

    def verb(name: str, summary: str) -> Parser:
        added: Parser = verbs.add_parser(name, help=summary, description=summary)
        added.add_argument("folder", type=Path, metavar="DIR", help="the session's folder")
        add_result(added)
        if name not in ("start", "export"):
            added.add_rare(
                "--policy",
                type=policy_name,
                metavar="NAME",
                help="the session's policy, if it is your own (module:attribute): runs its code, which a "
                "session's file alone never does",
            )
        return added

    _add_start(verb("start", "start a session in a new folder"))

    ask = verb("ask", "print the next intervention; the same until its rows are recorded")
    ask.add_argument(
        "--batch", type=count, default=1, metavar="N", help="ask for at least N rows a pull (default: 1)"
    )
    ask.add_argument(
        "--pending", type=count, default=1, metavar="K", help="keep K pulls open at once (default: 1)"
    )

    tell = verb("tell", "record the rows measured: all variables and the reward")
    tell.add_argument("rows", type=Path, metavar="CSV", help="the rows: a header, then one row for each")
    _add_pull(tell)
    tell.add_argument("--close", action="store_true", help="close the pull: no more rows of it will come")
    tell.add_argument(
        "--allow-noncompliance",
        action="store_true",
        help="accept rows with another intervention than asked for, if the policy can use them",
    )
    tell.add_argument(
        "--allow-unknown",
        action="store_true",
        help="accept empty fields and unknown states of variables not set (index policies and screening)",
    )
    tell.add_argument(
        "--again", action="store_true", help="record a file equal to an earlier one: these are other rows"
    )

    withdraw = verb("withdraw", "close a pull that could not be carried out")
    _add_pull(withdraw)
    withdraw.add_argument("--reason", default="", metavar="TEXT", help="reason, kept in the record")
    withdraw.add_argument(
        "--exclude",
        action="store_true",
        help="never ask for this intervention again: it can't be carried out",
    )

    add_state = verb("add-state", "add a state of a variable that nature has produced; it can't be set")
    add_state.add_argument("variable", metavar="VARIABLE", help="the variable")
    add_state.add_argument("state", metavar="STATE", help="its new state")

    extend = verb("extend", "move the horizon: the rows to ask for in all, with those told before")
    extend.add_argument("--horizon", type=count, required=True, metavar="T", help="rows in all")

    change = verb("set", "change the range of a numeric reward; the noise scale becomes half of it")
    change.add_argument(
        "--reward-range",
        nargs=2,
        type=real,
        required=True,
        metavar=("A", "B"),
        help="the lowest and the highest reward possible; others are refused",
    )

    verb("status", "print the variables ruled out, those still possible, and the best arm")
    export = verb(
        "export", "write all recorded rows as CSV; spreadsheets may read names such as =1+1 as formulas"
    )
    export.add_argument("--out", type=Path, required=True, metavar="CSV", help="the file to write")
    export.add_argument("--force", action="store_true", help="overwrite the file")


def _add_start(start: Parser) -> None:
    start.epilog = (
        "example: cb-pgm session start trial --states states.toml --not-settable age --horizon 400 "
        "--unit patients"
    )
    start.add_argument("--data", type=Path, metavar="CSV", help=TABLE_HELP)
    start.add_argument(
        "--states", type=Path, metavar="TOML", help="without observations: the states of every variable"
    )
    start.add_argument("--horizon", type=count, required=True, metavar="T", help="rows in all")
    start.add_argument(
        "--unit",
        default="rows",
        metavar="WORD",
        help="what a row stands for, such as patients (default: rows)",
    )
    start.add_argument(
        "--policy",
        default="screening",
        type=real_policy,
        metavar="NAME",
        help="the policy that chooses, or module:attribute for one of your own, which runs its code "
        '(default: screening; "cb-pgm policies" explains them)',
    )
    start.add_argument(
        "--stop",
        choices=("horizon", "best-arm"),
        default="horizon",
        metavar="WHEN",
        help="end at the horizon (default), or best-arm: as soon as an arm is known to be about the best",
    )
    start.add_argument(
        "--within",
        type=real,
        metavar="EPS",
        help="with --stop best-arm: by how much less it may earn, in units of the reward (default: a tenth "
        "of the rewards' range)",
    )
    start.add_argument(
        "--on",
        choices=("experimental", "identified"),
        default="experimental",
        metavar="BASIS",
        help="with --stop best-arm: experimental (default), by rows in which arms were set, or identified, "
        "which takes far fewer rows and assumes at most --max-parents causes and no hidden one",
    )
    start.add_argument(
        "--control",
        metavar="ARM",
        help="today's practice, over which the gain is measured: do(), or an arm as drug=low; at least a "
        "tenth of the rows",
    )
    start.add_rare(
        "--control-share",
        type=probability,
        default=0.1,
        metavar="P",
        help="the share of the rows that the control gets at least (default: 0.1)",
    )
    add_flags(start, RunSettings, "not_settable seed")
    add_flags(start, RunSettings, f"{TABLE} knowledge", title="the table", defaults={"reward": None})
    add_flags(start, RunSettings, POLICY_REST, rest=True, texts=REAL)
    add_table_rest(start)


def execute(options: Namespace) -> None:
    """Do one verb."""
    verbs = {
        "start": _start,
        "ask": _ask,
        "tell": _tell,
        "withdraw": _withdraw,
        "add-state": _add_state,
        "extend": _extend,
        "set": _set,
        "status": _status,
        "export": _export,
    }
    verbs[options.verb](options)


def _start(options: Namespace) -> None:
    if (options.data is None) == (options.states is None):
        raise UsageError("give either --data or --states")
    if options.stop != "best-arm" and (options.within is not None or options.on != "experimental"):
        raise UsageError("--within and --on say when to stop: give --stop best-arm with them")
    check_reward_scale(options)
    # Late imports, here and below: --help loads no other room.
    from cb_pgm.session.beginning import prepare
    from cb_pgm.session.session import Session
    from cb_pgm.session.setup import Setup
    from cb_pgm.session.texts import counted

    Session.check_new(options.folder)
    with waiting("Reading the table and estimating its graph"):
        beginning = prepare(Setup(**settings_of(options, Setup)))
    for warning in beginning.notes:
        note(f"warning: {warning}")
    with Session.begin(options.folder, beginning) as session:
        status = session.status(checks=False)
    settings = beginning.settings
    text = [
        f"Started a session in {options.folder}: {settings.policy}, to "
        f"{'lower' if settings.minimize else 'raise'} {settings.reward} in "
        f"{counted(settings.horizon, settings.unit)}",
        f"Settable  {', '.join(settings.settable)}",
        *([_control_text(settings)] if settings.control is not None else []),
        *([f"Learned   from {status.earlier:,} rows of {options.data}"] if status.earlier else []),
        f"Next      cb-pgm session ask {quote(str(options.folder))}",
    ]
    content = {
        "folder": str(options.folder),
        "policy": settings.policy,
        "horizon": settings.horizon,
        "reward": str(settings.reward),
        "settable": {name: list(states) for name, states in settings.settable.items()},
        "noise_scale": settings.noise_scale,
        "reward_gap": settings.reward_gap,
        "effect_gap": settings.effect_gap,
        "max_parents": settings.max_parents,
        "control": settings.control,
        "seed": settings.seed,
        "earlier": status.earlier,
        "warnings": list(beginning.notes),
    }
    _print(options, content, "\n".join(text))


def _control_text(settings: SessionSettings) -> str:
    control = " = ".join(*(settings.control or {}).items()) if settings.control else "do(), no intervention"
    return f"Control   {control}, in at least {settings.control_share:.0%} of the {settings.unit}"


def _ask(options: Namespace) -> None:
    from cb_pgm.session.session import Session
    from cb_pgm.session.status import pull_dict

    with Session.open(options.folder, policy=options.policy) as session:
        before = {pull.number for pull in session.status(checks=False).open}
        pulls = session.ask(batch=options.batch, pending=options.pending)
        status = session.status(checks=False)
    smaller = [pull for pull in pulls if pull.number in before and pull.left < options.batch]
    note_on_batch = _open_before(smaller, options.batch, status.unit) if smaller else None
    content = {"pulls": [pull_dict(pull) for pull in pulls], "over": status.over, "note": note_on_batch}
    text = _ask_text(options, pulls, status)
    _print(options, content, text if note_on_batch is None else f"{text}\n{note_on_batch}")


def _open_before(pulls: Sequence[OpenPull], batch: int, unit: str) -> str:
    """Return that these pulls were asked for before, with fewer rows than this batch."""
    from cb_pgm.session.texts import counted

    left = ", ".join(f"{pull} with {counted(pull.left, unit)} to come" for pull in pulls)
    were = "was" if len(pulls) == 1 else "were"
    return (
        f"{left[0].upper()}{left[1:]} {were} open already: --batch {batch} holds for new pulls only "
        f"(tell the rows first, or withdraw the pull)"
    )


def _ask_text(options: Namespace, pulls: tuple[OpenPull, ...], status: Status) -> str:

    if not pulls:
        return f"The session is over: {status.over}\nNext  cb-pgm session status {quote(str(options.folder))}"
    lines = []
    for pull in pulls:
        lines.append(pull.instruction(status.unit) + (f"  (pull {pull.number})" if len(pulls) > 1 else ""))
        if pull.why:
            lines.append(f"  why: {pull.why}")
    if len(pulls) < options.pending:
        asked = status.told + sum(pull.left for pull in pulls) >= status.horizon
        reason = "they reach the horizon" if asked else "the next pull depends on the rows of the open ones"
        lines.append(f"Only {len(pulls)} of {options.pending} pulls are open: {reason}")
    number = f" --pull {pulls[0].number}" if len(pulls) > 1 else ""
    return "\n".join([*lines, f"Then: cb-pgm session tell {quote(str(options.folder))} ROWS.csv{number}"])


def _tell(options: Namespace) -> None:
    from cb_pgm.session.session import Session
    from cb_pgm.session.texts import counted

    with Session.open(options.folder, policy=options.policy) as session:
        receipt = session.tell(
            options.rows,
            options.pull,
            close=options.close,
            allow_noncompliance=options.allow_noncompliance,
            allow_unknown=options.allow_unknown,
            again=options.again,
        )
        status = session.status(checks=False)
    text = [f"Recorded {counted(receipt.rows, status.unit)} of pull {receipt.pull}"]
    if receipt.left:
        text[0] += f"; {receipt.left:,} still to come"
    if receipt.noncompliant:
        text.append(
            f"{receipt.noncompliant:,} of them had another intervention than asked for: they count for "
            f"ruling out variables but not for the arm, whose mean describes those who complied"
        )
    text.append(f"{status.told:,} of {counted(status.horizon, status.unit)} recorded{_over(status)}")
    content = {
        "pull": receipt.pull,
        "rows": receipt.rows,
        "noncompliant": receipt.noncompliant,
        "left": receipt.left,
        "told": status.told,
        "over": status.over,
    }
    _print(options, content, "\n".join(text))


def _over(status: Status) -> str:
    return "" if status.over is None else f"; the session is over: {status.over}"


def _withdraw(options: Namespace) -> None:
    from cb_pgm.session.session import Session

    with Session.open(options.folder, policy=options.policy) as session:
        pull = session.withdraw(options.pull, reason=options.reason, exclude=options.exclude)
    text = f"Withdrew pull {pull.number} with {pull.left:,} rows not measured"
    if options.exclude:
        text += f"; {pull.intervention} will not be asked for again"
    _print(options, {"pull": pull.number, "left": pull.left, "excluded": options.exclude}, text)


def _add_state(options: Namespace) -> None:
    from cb_pgm.session.session import Session

    with Session.open(options.folder, policy=options.policy) as session:
        session.add_state(options.variable, options.state)
    added = f"Added {options.variable} = {options.state}"
    text = f"{added}: rows with it can be recorded, but it will not be asked for"
    _print(options, {"variable": options.variable, "state": options.state}, text)


def _extend(options: Namespace) -> None:
    from cb_pgm.session.session import Session
    from cb_pgm.session.texts import counted

    with Session.open(options.folder, policy=options.policy) as session:
        session.extend(options.horizon)
        status = session.status(checks=False)
    text = f"{status.told:,} of {counted(status.horizon, status.unit)} recorded"
    _print(options, {"horizon": status.horizon, "told": status.told}, text)


def _set(options: Namespace) -> None:
    from cb_pgm.session.session import Session

    low, high = options.reward_range
    with Session.open(options.folder, policy=options.policy) as session:
        session.set(reward_range=(low, high))
        scale = session.settings.noise_scale
    text = f"Rewards lie between {low:g} and {high:g}; the noise scale is {scale:g}"
    _print(options, {"reward_range": [low, high], "noise_scale": scale}, text)


def _status(options: Namespace) -> None:
    from cb_pgm.session.session import Session

    with Session.open(options.folder, policy=options.policy) as session:
        status = session.status()
    _print(options, status.to_dict(), status.to_text())


def _export(options: Namespace) -> None:
    from cb_pgm.session.session import Session

    with Session.open(options.folder) as session:
        rows = session.export(options.out, force=options.force)
        states = session.settings.states
    formulas = [name for names in (states, *states.values()) for name in names if name.startswith(_FORMULA)]
    if formulas:
        note(
            f"warning: a spreadsheet may read {formulas[0]!r} as a formula: let it import the columns as text"
        )
    _print(options, {"rows": rows, "out": str(options.out)}, f"Wrote {rows:,} rows to {options.out}")


def _add_pull(parser: Parser) -> None:
    parser.add_argument(
        "--pull", type=count, metavar="NUMBER", help="number of the pull, if several are open"
    )


def _print(options: Namespace, content: dict[str, Any], text: str) -> None:

    print_text(json_text(content) if options.json else text)
