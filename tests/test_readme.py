"""README.md is true: its commands print what it shows, its names exist, and it stays short."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

from cb_pgm.cli import main
from discovery import read_knowledge
from discovery.estimation import knowledge

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
KIDNEY = ["--reward", "success=yes", "--not-settable", "size", "--horizon", "2000", "--seed", "1"]


def script(name: str) -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
        return importlib.import_module(name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    script("readme_examples").prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_has_at_most_200_lines() -> None:
    assert len(README.splitlines()) <= 200


@pytest.mark.usefixtures("folder")
def test_its_commands_print_what_it_shows() -> None:
    module = script("readme_examples")
    found = list(module.examples(README))
    assert len(found) >= 4
    for example in found:
        printed = module.printed(example)
        assert module.agrees(example.shown, printed), "\n".join([example.command, *printed])


@pytest.mark.usefixtures("folder")
def test_its_python_prints_what_it_shows() -> None:
    test = doctest.DocTestParser().get_doctest(README, {}, "README.md", "README.md", 0)
    assert len(test.examples) >= 10
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0


@pytest.mark.usefixtures("folder")
def test_an_example_that_shows_something_else_is_found_and_mended() -> None:
    module = script("readme_examples")
    text = "    $ cat known.toml\n    roots = []\n    $ cb-pgm report data\n    Written\n\nMore.\n"
    _, report = module.examples(text)
    printed = module.printed(report)
    assert not module.agrees(report.shown, printed)
    assert module.agrees(("error: …",), printed)
    assert module.agrees(("…",), printed)
    assert not module.agrees(("…", "and more"), printed)
    assert module.rewritten(text) == text.replace("Written", *printed)


@pytest.mark.parametrize("known", ["[['treatment', 'size']]", "[['size', 'treatment']]"])
def test_the_kidney_stones_hang_on_the_direction_of_one_edge(
    folder: Path, known: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "known.toml").write_text(f"required = {known}\n", encoding="utf-8")
    assert main(["run", "data/kidney_stones.csv", *KIDNEY, "--knowledge", "known.toml"]) == 0
    choice = (
        "treatment = B looks best:" if known.startswith("[['treatment'") else "the best bet is treatment = A:"
    )
    assert choice in capsys.readouterr().out


def test_every_option_it_names_exists(capsys: pytest.CaptureFixture[str]) -> None:
    helps: dict[tuple[str, ...], str] = {}

    def options(*command: str) -> str:
        if command not in helps:
            with pytest.raises(SystemExit):
                main([*command, "--help-all"])
            helps[command] = capsys.readouterr().out
        return helps[command]

    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README.replace("mypy --strict", "")))
    known = [("run",), ("discover",), ("plan",), ("replay",), ("study",), ("report",), ("effects",)]
    known += [
        ("session", verb) for verb in ("start", "ask", "tell", "withdraw", "add-state", "status", "export")
    ]
    assert named
    for option in named:
        assert any(option in options(*command) for command in known), option


def test_its_links_and_paths_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    paths = re.findall(r"`((?:scripts|data|cb_pgm|discovery)/[\w./-]*)`", README)
    assert links
    assert paths
    for path in (*links, *paths):
        assert (ROOT / path).exists(), path


def test_the_files_that_the_paper_is_mapped_to_exist() -> None:
    text = (ROOT / "cb_pgm/README.md").read_text(encoding="utf-8")
    names = set(re.findall(r"`([\w./]+\.py)(?:::\w+)?`", text))
    assert len(names) >= 20
    for name in names:
        places = [ROOT / top / name for top in (".", "cb_pgm", "tests/cb_pgm", "scripts")]
        assert any(place.is_file() for place in places), name


def test_every_key_of_knowledge_is_explained_and_the_example_is_valid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help-toml"])
    explained = capsys.readouterr().out
    keys = re.findall(r"^(\w+)\n    ", explained, flags=re.MULTILINE)
    assert keys == list(knowledge.Knowledge.__dataclass_fields__)
    example = re.findall(r"^    (\w+ = .*|\[search\])$", explained, flags=re.MULTILINE)
    (tmp_path / "known.toml").write_text("\n".join(example), encoding="utf-8")
    assert all(getattr(read_knowledge(tmp_path / "known.toml"), key) for key in keys)


def test_a_section_of_a_page_is_replaced_as_a_whole() -> None:
    replaced = script("results_page").replaced
    page = "Before.\n<!-- one -->\nold\n\nlines\n<!-- /one -->\n<!-- two -->\nother\n<!-- /two -->\n"
    assert replaced(page, "one", "new\\1\n") == page.replace("old\n\nlines", "new\\1")
    for name in ("three", "on"):
        with pytest.raises(ValueError, match=name):
            replaced(page, name, "new")


@pytest.mark.parametrize("page", ["scripts/RESULTS.md", "cb_pgm/README.md", "CONTRIBUTING.md"])
def test_every_section_is_written_by_a_script(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    opened = re.findall(r"^<!-- ([\w-]+) -->$", text, flags=re.MULTILINE)
    assert opened
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "scripts").glob("*.py"))
    for name in opened:
        assert script("results_page").replaced(text, name, "new") != text
        assert f'"{name}"' in sources, name
