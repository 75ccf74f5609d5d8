"""What people know is read from TOML, and refused by name where it contradicts itself or the table."""

import pytest

from discovery.errors import KnowledgeError
from discovery.estimation.knowledge import Knowledge, read_knowledge


@pytest.fixture
def read(tmp_path):
    """Return the function that writes a text to a file and reads it as knowledge."""

    def write_and_read(text):
        path = tmp_path / "known.toml"
        path.write_text(text, encoding="utf-8")
        return read_knowledge(path)

    return write_and_read


def test_every_kind_of_statement_is_read(read):
    known = read(
        """
        tiers = [["age", "sex"], ["dose"], ["outcome"]]
        required = [["dose", "outcome"]]
        forbidden = [["age", "sex"], ["sex", "age"]]
        roots = ["age"]
        sinks = ["outcome"]
        """
    )
    assert known == Knowledge(
        tiers=(("age", "sex"), ("dose",), ("outcome",)),
        required=(("dose", "outcome"),),
        forbidden=(("age", "sex"), ("sex", "age")),
        roots=("age",),
        sinks=("outcome",),
    )
    assert known


def test_an_empty_file_says_nothing(read):
    known = read("# nothing yet\n")
    assert not known
    assert known.allows("A", "B")


@pytest.mark.parametrize(
    ("known", "forwards", "backwards"),
    [
        (Knowledge(tiers=[["A"], ["B"]]), True, False),
        (Knowledge(tiers=[["A", "B"]]), True, True),
        (Knowledge(tiers=[["A"]]), True, True),
        (Knowledge(required=[("A", "B")]), True, False),
        (Knowledge(forbidden=[("B", "A")]), True, False),
        (Knowledge(forbidden=[("B", "A"), ("A", "B")]), False, False),
        (Knowledge(roots=["A"]), True, False),
        (Knowledge(roots=["A", "B"]), False, False),
        (Knowledge(sinks=["B"]), True, False),
        (Knowledge(sinks=["B"], tiers=[["B"], ["A"]]), False, False),
    ],
)
def test_what_each_statement_allows_between_two_variables(known, forwards, backwards):
    assert known.allows("A", "B") is forwards
    assert known.allows("B", "A") is backwards
    assert known.may_be_adjacent("A", "B") is (forwards or backwards)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('tiers = [["A"], ["B", "A"]]', "'A' in two tiers"),
        ('tiers = [["A"], ["B"]]\nrequired = [["B", "A"]]', "B → A required and B in a later tier than A"),
        ('required = [["A", "B"]]\nforbidden = [["A", "B"]]', "A → B required and A → B forbidden"),
        ('required = [["A", "B"]]\nroots = ["B"]', "A → B required and B a root"),
        ('required = [["A", "B"]]\nsinks = ["A"]', "A → B required and A a sink"),
        ('required = [["A", "B"], ["B", "A"]]', "cycle of required arrows, A → B → A"),
        ('required = [["A", "B"], ["C", "A"], ["B", "C"]]', "cycle of required arrows, A → B → C → A"),
    ],
)
def test_contradictions_are_refused_by_name(read, text, names):
    with pytest.raises(KnowledgeError, match=names) as refusal:
        read(text)
    assert "known.toml" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('teirs = [["A"]]', "'teirs': did you mean 'tiers'"),
        ('tiers = ["A", "B"]', "'tiers' to be a list of lists of names"),
        ("roots = [1]", "'roots' to be a list of names"),
        ('sinks = "A"', "'sinks' to be a list of names"),
        ('required = [["A", "B", "C"]]', "'required' arrows between two variables but found"),
        ('forbidden = [["A", "A"]]', "'forbidden' arrows between two variables but found"),
        ("tiers = [[", "in TOML but found"),
        ("search = 3", "'search' to be a table but found 3"),
        ("[search]\nalhpa = 0.1", "'alhpa': did you mean 'alpha'"),
        ('[search]\nalpha = "a"', "'alpha' of 'search' to be a number but found 'a'"),
        ("[search]\nuc_rule = true", "'uc_rule' of 'search' to be a whole number but found True"),
    ],
)
def test_other_keys_and_shapes_are_refused_in_one_line(read, text, named):
    with pytest.raises(KnowledgeError, match=named) as refusal:
        read(text)
    assert "\n" not in str(refusal.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(KnowledgeError, match="No such file"):
        read_knowledge(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    "known",
    [
        Knowledge(tiers=[["smoke"], ["lunge"]]),
        Knowledge(required=[("smoke", "lunge")]),
        Knowledge(forbidden=[("lunge", "smoke")]),
        Knowledge(roots=["lunge"]),
        Knowledge(sinks=["lunge"]),
    ],
)
def test_unknown_variables_are_named_and_the_nearest_suggested(known):
    with pytest.raises(KnowledgeError, match="'lunge': did you mean 'lung'"):
        known.check_names(["smoke", "lung", "bronc"])
    known.check_names(["smoke", "lunge"])
