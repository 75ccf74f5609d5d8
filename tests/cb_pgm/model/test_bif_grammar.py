"""Every consistent file of BIF's grammar is read with the right tables; others are refused with the line."""

from __future__ import annotations

import gc
import gzip
import time
import tracemalloc
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from cb_pgm import CausalSystem, CausalSystemError
from cb_pgm.model.bif import read_bif_model
from cb_pgm.model.discrete_model import DiscreteModel
from cb_pgm.model.pgmpy_networks import model_of_network

Read = Callable[[str], DiscreteModel]

A = "variable A { type discrete [ 2 ] { no, yes }; }\n"
R = "variable R { type discrete [ 2 ] { no, yes }; }\n"
P_A = "probability ( A ) { table 0.6, 0.4; }\n"
P_R = "probability ( R | A ) {\n  (no) 0.1, 0.9;\n  (yes) 0.7, 0.3;\n}\n"
HEAD = "network n {\n}\n"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read_text(text: str) -> DiscreteModel:
        path = tmp_path / "network.bif"
        path.write_bytes(text.encode())
        return read_bif_model(path)

    return read_text


# -- what the grammar has ------------------------------------------------------------------------------------

VALID = {
    "plain": HEAD + A + R + P_A + P_R,
    "no newline at the end": (HEAD + A + R + P_A + P_R).rstrip(),
    "Windows line ends": (HEAD + A + R + P_A + P_R).replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + HEAD + A + R + P_A + P_R,
    "no needless blank": "network n{}variable A{type discrete[2]{no,yes};}"
    "variable R{type discrete[2]{no,yes};}"
    "probability(A){table .6,.4;}probability(R|A){(no).1,.9;(yes)7e-1,3.E-1;}",
    "every word on its own line": (HEAD + A + R + P_A + P_R).replace(" ", "\n"),
    "no commas, no bar": HEAD
    + "variable A { type discrete [2] { no yes }; } variable R { type discrete [2] {no yes}; }"
    + "probability (A) { table 0.6 0.4; } probability (R A) { (no) 0.1 0.9; (yes) 0.7 0.3; }",
    "commas and bars anywhere": HEAD
    + "variable, A { type | discrete [ 2, ] { no,, yes, }; } , variable R { type discrete [ 2 ] { no|yes }; }"
    + "probability ( A, ) { table 0.6,, | 0.4, ; } | probability ( R A ) { (no,) ,0.1 0.9; (|yes) 0.7|0.3; }",
    "probabilities first, rows turned round": "network n { }\n"
    "probability ( R | A ) { (yes) 0.7, 0.3; (no) 0.1, 0.9; }" + P_A + A + R,
    "a table for a node with parents": HEAD + A + R + P_A + "probability (R|A) { table .1 .7 .9 .3; }",
    "a default first": HEAD + A + R + P_A + "probability (R|A) { default .1 .9; (yes) .7 .3; }",
    "a default last": HEAD + A + R + P_A + "probability (R|A) { (yes) .7 .3; default .1 .9; }",
    "a default for a root": HEAD + A + R + P_R + "probability (A) { default .6 .4; }",
    "a needless default": HEAD + A + R + P_A + P_R.replace("}", "default .5 .5; }"),
    "comments": '// one { " /*\nnetwork n /* two\n lines ; } */ {} // x\n'
    + A.replace("type", "/**/type//\n").replace("no,", "no/* , maybe */,")
    + R
    + P_A.replace("0.6,", "0.6 // not 0.7;\n ,/* * / */")
    + P_R.replace("(no)", "(/* yes */ no // yes)\n )").replace("0.3;", "0.3/**/;")
    + "// the end",
    "properties": HEAD.replace("{", '{ property version 1.0; property "a ; b" ;\n property author It\'s ; ')
    + A.replace(
        "{", '{ property position = (73, 165) ;\n property http://x.org/*y ; property it is 5" tall ;', 1
    )
    + R.replace("}; }", "}; property type discrete [ 3 ] { a, b, c }; property ; }")
    + P_A.replace("{", "{ property table 0.1, 0.9; property } variable B { ;")
    + P_R.replace("(yes)", 'property "default" ; (yes)'),
    "rounded rows": HEAD + A + R + P_A.replace("0.4", "0.3996") + P_R,
    "no network block": A + R + P_A + P_R,
    "a network of any name": 'network "variable A {" { }' + A + R + P_A + P_R,
}


@pytest.mark.parametrize("text", VALID.values(), ids=VALID)
def test_a_form_of_the_grammar_is_read(read: Read, text: str) -> None:
    model = read(text)
    assert model.states == {"A": ("no", "yes"), "R": ("no", "yes")}
    assert model.parents == ((), (0,))
    np.testing.assert_allclose(model.tables[0], [0.6, 0.4], atol=4e-4)
    np.testing.assert_allclose(model.tables[1], [[0.1, 0.9], [0.7, 0.3]], rtol=1e-15)
    assert model.tables[0].sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ('"light on"', "light on"),
        ('"a, b"', "a, b"),
        ('"f(x) {1} [2] | ;"', "f(x) {1} [2] | ;"),
        ('"no // comment"', "no // comment"),
        ('"/* none */"', "/* none */"),
        ('"variable"', "variable"),
        ("variable", "variable"),
        ("network", "network"),
        ("property", "property"),
        ("table", "table"),
        ("default", "default"),
        ("a", "a"),  # beside the reward's other parent "A"
        ("Age(y)", "Age(y)"),
        ("x[1]", "x[1]"),
        ("<5", "<5"),
        ("1/2", "1/2"),
        ("größe", "größe"),
        ("-0.5", "-0.5"),
        ("two words", "two words"),
    ],
)
def test_a_name_is_read_as_variable_and_as_state(tmp_path: Path, written: str, name: str) -> None:
    path = tmp_path / "names.bif"
    path.write_text(
        f"{HEAD}variable A {{ type discrete [ 2 ] {{ 0, 1 }}; }} {R}"
        f"variable {written} {{ type discrete [ 2 ] {{ off, {written} }}; }}\n"
        f"probability ( A ) {{ table 0.5, 0.5; }} probability ( {written} ) {{ table 0.6, 0.4; }}\n"
        f"probability ( R | A, {written} ) {{\n"
        f"(0, off) .1 .9; (1, {written}) .7 .3; (1, off) .1 .9; (0, {written}) .7 .3; }}",
        "utf-8",
    )
    system = CausalSystem.from_bif(path, "R=yes")
    assert system.states == {"A": ("0", "1"), name: ("off", name)}
    assert system.mean_reward({name: "off"}) == pytest.approx(0.9)
    assert system.mean_reward({name: name}) == pytest.approx(0.3)


def test_a_table_runs_through_the_headers_last_variable_first(read: Read) -> None:
    states = {"X": ("a", "b", "c"), "Y": ("d", "e"), "Z": ("f", "g")}
    rng = np.random.default_rng(1)
    table = rng.dirichlet(np.ones(2), size=(3, 2))
    flat = " ".join(map(repr, np.moveaxis(table, -1, 0).ravel().tolist()))
    model = read(
        "".join(
            f"variable {name} {{ type discrete [ {len(own)} ] {{ {', '.join(own)} }}; }}\n"
            for name, own in states.items()
        )
        + f"probability (X) {{ table .2 .3 .5; }} probability (Y) {{ table 1 0; }} "
        f"probability (Z X Y) {{ table {flat}; }}"
    )
    assert model.states == states
    assert model.parents == ((), (), (0, 1))
    np.testing.assert_allclose(model.tables[2], table, rtol=1e-14)


# -- generated files -----------------------------------------------------------------------------------------

STATES = ("no", "yes", "a b", "x,y", "(1)", "Yes", "table", "// z", "}", "0.5", "|")


def random_model(rng: np.random.Generator, names: tuple[str, ...], states: tuple[str, ...]) -> DiscreteModel:
    own = {
        name: tuple(rng.permutation(states)[: rng.integers(1, min(4, len(states)) + 1)].tolist())
        for name in names
    }
    cards = [len(values) for values in own.values()]
    parents = tuple(
        tuple(rng.permutation(v)[: rng.integers(0, min(v, 3) + 1)].tolist()) for v in range(len(names))
    )
    tables = tuple(
        rng.dirichlet(np.ones(cards[v]), size=tuple(cards[parent] for parent in parents[v]))
        for v in range(len(names))
    )
    return DiscreteModel(own, parents, tables)


def tokens(model: DiscreteModel, rng: np.random.Generator) -> list[str]:
    """Return the tokens of a file of the model: blocks and rows in any order, entries of any kind."""

    def name(text: str) -> str:
        return text if text.isidentifier() and text != "table" and rng.random() < 0.7 else f'"{text}"'

    blocks = []
    for v, (variable, states) in enumerate(model.states.items()):
        kind = ["type", "discrete", "[", str(len(states)), "]", "{", *map(name, states), "}", ";"]
        extra = ["property some { words ;"] if rng.random() < 0.3 else []
        blocks.append(["variable", name(variable), "{", *extra, *kind, "}"])
        table = model.tables[v]
        parents = [model.variables[parent] for parent in model.parents[v]]
        block = ["probability", "(", name(variable), *map(name, parents), ")", "{", *extra]
        rows = table.reshape(-1, len(states))
        if not parents or rng.random() < 0.3:
            block += ["table", *map(repr, rows.T.ravel().tolist()), ";"]
        else:
            keys = list(product(*(model.states[parent] for parent in parents)))
            left_out = rng.integers(len(rows)) if rng.random() < 0.5 else -1
            for number in rng.permutation(len(rows)):
                key = ["default"] if number == left_out else ["(", *map(name, keys[number]), ")"]
                block += [*key, *map(repr, rows[number].tolist()), ";"]
        blocks.append([*block, "}"])
    order = rng.permutation(len(blocks))
    return ["network", "n", "{", *extra, "}", *(token for place in order for token in blocks[place])]


def rendered(words: list[str], rng: np.random.Generator) -> str:
    gaps = (" ", "\n", "\t ", " , ", ' /* } " */ ', " // ) ;\n", "\r\n")
    return "".join(word + gaps[rng.integers(len(gaps))] for word in words)


@pytest.mark.parametrize("seed", range(60))
def test_a_generated_file_is_read_as_the_model_it_was_made_from(read: Read, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = ("A", "a", "two words", "p(q)", "network", "e;", "größe")[: rng.integers(1, 8)]
    model = random_model(rng, names, STATES)
    again = read(rendered(tokens(model, rng), rng))
    assert dict(again.states) == model.states
    for name, v in model.index.items():
        u = again.index[name]
        assert [again.variables[p] for p in again.parents[u]] == [names[p] for p in model.parents[v]]
        np.testing.assert_allclose(again.tables[u], model.tables[v], rtol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_pgmpy_reads_a_generated_plain_file_the_same(read: Read, seed: int) -> None:
    from pgmpy.readwrite import BIFReader

    rng = np.random.default_rng(seed)
    model = random_model(rng, ("A", "B", "C", "D"), ("no", "yes", "maybe"))
    lines = [HEAD]
    for v, (name, states) in enumerate(model.states.items()):
        given = " | " * bool(model.parents[v]) + ", ".join(model.variables[p] for p in model.parents[v])
        values = model.tables[v].reshape(-1, len(states))
        keys = product(*(model.states[model.variables[p]] for p in model.parents[v]))
        rows = [
            f"  ({', '.join(key)}) {', '.join(map(repr, row.tolist()))};\n"
            for key, row in zip(keys, values, strict=True)
        ]
        lines += [
            f"variable {name} {{\n  type discrete [ {len(states)} ] {{ {', '.join(states)} }};\n}}\n",
            f"probability ( {name}{given} ) {{\n",
            *(rows if given else [f"  table {', '.join(map(repr, values[0].tolist()))};\n"]),
            "}\n",
        ]
    ours, theirs = read("".join(lines)), model_of_network(BIFReader(string="".join(lines)).get_model())
    assert_same(ours, theirs)
    assert_same(ours, model)


# -- pgmpy's networks ----------------------------------------------------------------------------------------


def bundled() -> Iterator[Path]:
    found = find_spec("pgmpy")
    assert found is not None
    assert found.origin is not None
    return (Path(found.origin).parent / "utils" / "example_models").glob("*.bif.gz")


def assert_same(ours: DiscreteModel, theirs: DiscreteModel) -> None:
    assert ours.states == theirs.states
    assert ours.parents == theirs.parents
    for table, same in zip(ours.tables, theirs.tables, strict=True):
        np.testing.assert_allclose(table, same, rtol=1e-13)


def assert_read_as_by_pgmpy(packed: Path, folder: Path) -> None:
    from pgmpy.readwrite import BIFReader

    path = folder / packed.name.removesuffix(".gz")
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    gc.collect()  # what the reading of an earlier network left behind counts for none
    start = time.process_time()
    ours = read_bif_model(path)
    middle = time.process_time()
    network = BIFReader(path).get_model()
    end = time.process_time()
    assert middle - start <= (end - middle) / 5
    assert ours.variables == tuple(network.nodes)
    for cpd in network.get_cpds():
        v = ours.index[cpd.variable]
        assert [ours.variables[parent] for parent in ours.parents[v]] == cpd.variables[1:]
        assert list(ours.states[cpd.variable]) == cpd.state_names[cpd.variable]
        table = np.moveaxis(cpd.values, 0, -1)
        np.testing.assert_allclose(ours.tables[v], table / table.sum(axis=-1, keepdims=True), rtol=1e-13)


SMALL = ("asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "alarm")


@pytest.mark.parametrize("name", SMALL)
def test_a_small_network_is_read_as_by_pgmpy_in_a_fifth_of_its_time(tmp_path: Path, name: str) -> None:
    assert_read_as_by_pgmpy(next(path for path in bundled() if path.name == f"{name}.bif.gz"), tmp_path)


@pytest.mark.slow
def test_every_large_network_is_read_as_by_pgmpy_in_a_fifth_of_its_time(tmp_path: Path) -> None:
    large = [path for path in bundled() if path.name.removesuffix(".bif.gz") not in SMALL]
    assert len(large) >= 16
    for path in large:
        assert_read_as_by_pgmpy(path, tmp_path)


# -- what is refused -----------------------------------------------------------------------------------------

WRONG = {
    "two variable blocks": (HEAD + A + A + P_A, 4, "one variable block for 'A'"),
    "two probability blocks": (HEAD + A + P_A + P_A, 5, "one probability block for 'A'"),
    "no probability block": (HEAD + A + R + P_A, 4, "a probability block for 'R'"),
    "two tables in a block": (HEAD + A + "probability (A) {\ntable .6 .4;\ntable .6 .4; }", 6, "table entry"),
    "two defaults": (HEAD + A + "probability (A) {\ndefault .6 .4;\ndefault .6 .4; }", 6, "default entry"),
    "a row twice": (
        HEAD + A + R + P_A + P_R.replace("(yes)", "(no)"),
        8,
        "'A=no' .* after that in line 7",
    ),
    "a row beside a table": (
        HEAD + A + R + P_A + P_R.replace("}", "table .1 .7 .9 .3; }"),
        7,
        "one row of the table",
    ),
    "too few states": (HEAD + A.replace("2", "3") + P_A, 3, r"\[3\] and 2 states"),
    "too many states": (HEAD + A.replace("2", "1") + P_A, 3, r"\[1\] and 2 states"),
    "no states": (HEAD + "variable A { type discrete [ 0 ] { }; }", 3, r"\[0\] and 0 states"),
    "a state twice": (HEAD + A.replace("no", "yes") + P_A, 3, "'yes' twice"),
    "a huge number of states": (HEAD + A.replace("2", "9" * 9999) + P_A, 3, "and 2 states"),
    "no number of states": (HEAD + A.replace("2", "two") + P_A, 3, "number of states but found 'two'"),
    "another type": (HEAD + A.replace("discrete", "continuous") + P_A, 3, "'discrete'"),
    "no type": (HEAD + "variable A { }", 3, "the states of 'A'"),
    "two types": (HEAD + A.replace("type", "type discrete [ 1 ] { x }; type"), 3, "one type of 'A'"),
    "a sum below 1": (HEAD + A + "probability (A) {\n table .6 .398; }", 5, "a sum of 0.998 in"),
    "a row's sum above 1": (HEAD + A + R + P_A + P_R.replace("0.3", "0.4"), 8, "a sum of 1.1 for 'A=yes'"),
    "a column's sum": (
        HEAD + A + R + P_A + "probability (R|A) {\n table .1 .9 .7 .3; }",
        7,
        "0.8 for 'A=no'",
    ),
    "a default's sum": (HEAD + A + R + P_A + "probability (R|A) {\n default .1 .2; }", 7, "0.3 for 'A=no'"),
    "a negative probability": (HEAD + A + P_A.replace("0.6", "-0.6"), 4, "'-0.6'"),
    "no number": (HEAD + A + P_A.replace("0.6", "nan"), 4, "at least 0|sum of nan"),
    "not even nan": (HEAD + A + P_A.replace("0.4", "nan"), 4, "at least 0|sum of nan"),
    "infinity": (HEAD + A + P_A.replace("0.6", "inf"), 4, "sum of inf"),
    "two points": (HEAD + A + P_A.replace("0.6", "0.6.1"), 4, "'0.6.1'"),
    "Python's underscore": (HEAD + A + P_A.replace("0.6", "0.6_0"), 4, "'0.6_0'"),
    "an empty table": (HEAD + A + "probability (A) { table ; }", 4, "but found none"),
    "too few probabilities": (HEAD + A + P_A.replace(", 0.4", ""), 4, r"2 × 1 probabilities .* found 1"),
    "too many in a row": (
        HEAD + A + R + P_A + P_R.replace("0.9", "0.4, 0.5"),
        7,
        r"states \(2\) but found 3",
    ),
    "too many in a default": (HEAD + A + P_A.replace("table", "default 0"), 4, r"states \(2\) but found 3"),
    "an undefined parent": (HEAD + A + R + P_A + P_R.replace("| A", "| B"), 6, "found 'B'"),
    "a parent's other case": (HEAD + A + R + P_A + P_R.replace("| A", "| a"), 6, "did you mean 'A'"),
    "an undefined child": (HEAD + A + P_A + P_R, 5, "found 'R'"),
    "no variable": (HEAD + A + "probability ( ) { table 1; }", 4, "variable's name"),
    "a parent twice": (HEAD + A + R + P_A + P_R.replace("| A", "| A, A"), 6, "a name twice"),
    "its own parent": (HEAD + A + "probability (A|A) { default .6 .4; }", 4, "a name twice"),
    "a cycle": (HEAD + A + R + P_R + "probability (A|R) { default .6 .4; }", None, "'A' → 'R'|'R' → 'A'"),
    "an unknown state": (HEAD + A + R + P_A + P_R.replace("(yes)", "(yess)"), 8, "did you mean 'yes'"),
    "too many states in a row": (HEAD + A + R + P_A + P_R.replace("(yes)", "(no, yes)"), 8, "1 parents"),
    "a missing row": (HEAD + A + R + P_A + P_R.replace("(no) 0.1, 0.9;", ""), 6, "found none for 'A=no'"),
    "an empty block": (HEAD + A + "probability ( A ) { }", 4, "every row of the table of 'A'"),
    "two networks": (HEAD + HEAD + A + P_A, 3, "one network block"),
    "no variables": (HEAD, 1, "found no variable"),
    "nothing": ("", 1, "found no variable"),
    "an unknown word": (HEAD + "varible A { }", 3, "found 'varible'"),
    "an unknown entry": (HEAD + A + P_A.replace("table", "tabel"), 4, "found 'tabel'"),
    "no semicolon": (HEAD + A + P_A.replace(";", ""), 4, "Expected ; but found '}'"),
    "no closing brace": (HEAD + A + "probability (A) { table .6 .4;", 4, "the end of the file"),
    "an open comment": (HEAD + A + "\n/* " + P_A, 5, "close the comment"),
    "an open quote": (HEAD + A + P_A.replace("( A", '( "A'), 4, "a closing double quote"),
    "an open property": (HEAD + "variable A { property x }", 3, "';' after the property"),
    "two names": (HEAD + A.replace("A", "A, B"), 3, "one name after 'variable'"),
}


@pytest.mark.parametrize(("text", "line", "reason"), WRONG.values(), ids=WRONG)
def test_a_file_that_contradicts_itself_is_refused(
    read: Read, text: str, line: int | None, reason: str
) -> None:
    with pytest.raises(CausalSystemError, match=reason) as refusal:
        read(text)
    message = str(refusal.value)
    assert message.startswith("Expected ")
    assert "\n" not in message
    assert len(message) < 600
    assert line is None or f" in line {line} of " in message


MARKS = (
    *("{", "}", "(", ")", "[", "]", ";", '"', "//", "/*", "\x00"),
    *("nan", "1e999", "-1", "table", "default", "\u202e"),
)
NUMBERS = ("nan", "-nan", "inf", "1e999", "-0.1", "0.5", "1e-400", "0x1p-1", "1_0", "۱", "")
COUNTS = ("1000000000", "0", "3", "-2", "1" * 400, "2.0", "1e9", "")
NAMES = ("A", "a", '"two words"', '"p(q)"', "unknown", '""', "table")


def mutated(words: list[str], rng: np.random.Generator) -> list[str]:
    """Return the tokens of a file with one of them, or one run of them, taken out, put in or changed."""
    place, other = sorted(rng.integers(len(words), size=2).tolist())
    starts = [at for at, word in enumerate(words) if word in ("variable", "probability")]

    def one_of(texts: tuple[str, ...]) -> str:
        return texts[rng.integers(len(texts))]

    def places(after: str) -> list[int]:
        return [at + 1 for at, word in enumerate(words[:-1]) if word == after]

    match rng.integers(10):
        case 0:
            return [*words[:place], *words[place + 1 :]]
        case 1:
            return [*words[:place], one_of(MARKS), *words[place:]]
        case 2:
            words[place], words[other] = words[other], words[place]
        case 3:
            return [*words[:other], *words[place:other], *words[other:]]
        case 4:
            return words[: place + 1]
        case 5:  # what is no probability, or doesn't sum to 1
            numbers = [at for at, word in enumerate(words) if "." in word and word[0].isdigit()]
            for at in rng.permutation(numbers or [place])[: rng.integers(1, 3)]:
                words[at] = one_of(NUMBERS)
        case 6 if places("["):
            words[rng.choice(places("["))] = one_of(COUNTS)
        case 7 if starts:  # a block twice
            at = starts[rng.integers(len(starts))]
            end = next((start for start in starts if start > at), len(words))
            return [*words, *words[at:end]]
        case 8 if places("probability"):  # a parent more: unknown, itself, twice, or in a cycle
            at = rng.choice(places("probability")) + 2
            return [*words[:at], one_of(NAMES), *words[at:]]
        case _ if starts:  # a block less
            at = starts[rng.integers(len(starts))]
            end = next((start for start in starts if start > at), len(words))
            return [*words[:at], *words[end:]]
    return words


@pytest.mark.parametrize("seed", range(300))
def test_a_malformed_file_has_one_clear_answer(tmp_path: Path, seed: int) -> None:
    """A file of the grammar that was changed or cut off at any byte is read, or refused with the line."""
    rng = np.random.default_rng(seed)
    words = tokens(random_model(rng, ("A", "a", "two words", "p(q)"), STATES), rng)
    for _ in range(rng.integers(1, 4)):
        words = mutated(words, rng) or [""]
    content = rendered(words, rng).encode()
    if seed % 4 == 0:
        content = content[: rng.integers(len(content) + 1)]
    path = tmp_path / "network.bif"
    path.write_bytes(content)
    message = ""
    tracemalloc.start()
    start = time.process_time()
    try:
        model = read_bif_model(path)
    except CausalSystemError as refusal:
        message = str(refusal)
    else:
        assert all(np.allclose(table.sum(axis=-1), 1) for table in model.tables)
    finally:
        seconds, memory = time.process_time() - start, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert seconds < 1
    assert memory < 2e6 + 200 * len(content)
    assert not message or message.startswith("Expected ")
    assert not message or " in line " in message or "in UTF-8" in message
    assert len(message.splitlines()) <= 1
    assert len(message) < 600


def test_a_refusal_is_an_error_of_value() -> None:
    assert issubclass(CausalSystemError, ValueError)


HALF = 200_000
HUGE = {
    "brackets": "(" * HALF,
    "quotes": '"' * (HALF + 1),
    "open comments": "/*" * HALF,
    "comments": "/**/" * HALF + "x",
    "slashes": HEAD + "variable " + "/ " * HALF,
    "a long word": HEAD + "x" * HALF,
    "a long name": HEAD + A + R + P_A + P_R.replace("(yes)", f"({'y' * HALF})"),
    "open names": HEAD + "variable A { type discrete [ 2 ] { " + "a(" * HALF,
    "nested blocks": HEAD + "variable A {" * HALF,
    "properties": HEAD + "variable A { " + 'property " ' * HALF,
    "numbers": HEAD + A + "probability (A) { table " + "0 " * HALF,
    "states": HEAD + f"variable A {{ type discrete [ {HALF} ] {{ {'a ' * HALF}}}; }}",
    "variables": HEAD + A * 20_000,
    "a default for far too many rows": HEAD
    + R
    + "".join(A.replace("A", f"A{v}") + P_A.replace("A", f"A{v}") for v in range(60))
    + f"probability ( R {' '.join(f'A{v}' for v in range(60))} ) {{ default .5 .5; }}",
    "too many parents": HEAD
    + R
    + "".join(A.replace("A", f"A{v}") + P_A.replace("A", f"A{v}") for v in range(70))
    + f"probability ( R {' '.join(f'A{v}' for v in range(70))} ) {{ default .5 .5; }}",
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE)
def test_a_hostile_file_takes_bounded_time_and_memory(read: Read, text: str) -> None:
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(CausalSystemError, match="in line") as refusal:
            read(text)
        assert time.process_time() - start < 10
        assert tracemalloc.get_traced_memory()[1] < 2e8
    finally:
        tracemalloc.stop()
    assert len(str(refusal.value)) < 600
