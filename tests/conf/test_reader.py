"""What stands in a file, as Slurm's own parser takes it, and what it stops at."""

import pytest

from slurmwright.conf import Include, parse


def pairs(text: str) -> list[tuple[str, str]]:
    return [(p.key, p.value) for s in parse(text).statements for p in s.pairs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1", [("A", "1")]),
        ("  A = 1  \n", [("A", "1")]),
        ('A=" x y "\n', [("A", " x y ")]),
        ('A=""\n', [("A", "")]),
        ('A="ab"\n', [("A", "ab")]),
        ('A="ab"c\n', [("A", '"ab"c')]),
        ('A=a"b"\n', [("A", 'a"b"')]),
        ('A="x\\"y"\n', [("A", '"x"y"')]),
        ('A="x#y"\n', [("A", '"x')]),
        ("A=x\\#y\n", [("A", "x#y")]),
        ("A==1\n", [("A", "=1")]),
        ("A+=1\n", [("A", "1")]),
        ("A.b_1=é\n", [("A.b_1", "é")]),
        ("NodeName=a Gres= Sockets=2\n", [("NodeName", "a"), ("Gres", "Sockets=2")]),
        ("NodeName=a \\\n  Sockets=2 CPUs=4\n", [("NodeName", "a"), ("Sockets", "2"), ("CPUs", "4")]),
        ("NodeName=a junk CPUs=4\n", [("NodeName", "a")]),
        ("Include=x\n", [("Include", "x")]),
    ],
)
def test_pairs_equal_those_of_s_p_parse_file_22_05_24_11_26_05(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert pairs(text) == expected


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("B=1\nA=\n", 2, 1, 'A has no value, at which Slurm stops; write A="" or remove it'),
        ("A= # later\n", 1, 1, "A has no value"),
        ("NodeName=a \\\n CPUs=4 Gres=\n", 2, 9, "Gres has no value"),
        ("A=1 B=2\n", 1, 5, "B stands behind A on one line"),
        ("A=x y\n", 1, 5, "'y' is not key=value; put the value of A into double quotes"),
        ('A="x y # z"\n', 1, 6, "opens the value of A (line 1) is not closed"),
        ("  Include x\n", 1, 3, "very beginning of a line"),
        ("Include x y\n", 1, 1, "Include: 'y' follows the file name"),
        ("Include \n", 1, 1, "Include: no file is named"),
        ("Include\n", 1, 1, "Include: no file is named"),
        ("Include", 1, 1, "'Include' is not key=value"),
        ("A=1\nInclude x", 2, 1, "Include: Slurm reads past a file name"),
        ("Include x# my words\n", 1, 1, "Include: Slurm reads past a file name"),
        ("\ufeffA=1\n", 1, 1, "byte order mark"),
        ("just words\n", 1, 1, "'just words' is not key=value"),
        ("\\#A=1\n", 1, 1, "'#A=1' is not key=value"),
        ("!" * 50, 1, 1, "'" + "!" * 37 + "...'"),
    ],
)
def test_what_slurm_stops_at_is_named_with_its_place(text: str, line: int, column: int, words: str) -> None:
    (problem,) = parse(text, "slurm.conf").problems
    assert (problem.file, problem.line, problem.column) == ("slurm.conf", line, column)
    assert words in problem.message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# A=\n\n \t\n",
        'A=""\n',
        "NodeName=a CPUs=2\n",
        "NAME=gpu File=/dev/nvidia0\n",
        "Include x # y\n",
        "Include x#y\n",
    ],
)
def test_what_slurm_takes_is_no_problem(text: str) -> None:
    assert parse(text).problems == ()


def test_pair_tells_its_place_and_operator() -> None:
    text = '# top\nNodeName=a \\\n\tGres += "gpu:8" # c\n'
    (statement,) = parse(text).statements
    gres = statement.pairs[1]
    assert (gres.line, gres.column, gres.operator) == (3, 2, "+")
    assert text[gres.start : gres.end] == 'Gres += "gpu:8"'
    assert text[gres.value_start : gres.end] == '"gpu:8"'


def test_unreadable_line_stays_as_a_statement() -> None:
    first, second = parse("some words\nA=1 more\n").statements
    assert (first.key, first.pairs, first.rest) == ("", (), "some words")
    assert (second.key, second.rest) == ("A", "more")


def test_last_of_a_key_repeated_on_one_line_counts_confirmed_with_slurmctld() -> None:
    (statement,) = parse("NodeName=n2 Weight=9 weight=10\n").statements
    pair = statement.get("WEIGHT")
    assert pair is not None
    assert pair.value == "10"
    assert statement.get("CPUs") is None


def test_includes_are_named_with_their_places() -> None:
    doc = parse("A=1\nINCLUDE\t nodes_%c.conf # here\nInclude \\\n  b\n")
    assert [(i.name, i.line, i.column) for i in doc.includes] == [("nodes_%c.conf", 2, 10), ("b", 4, 3)]
    assert isinstance(doc.includes[0], Include)
    assert [s.key for s in doc.statements] == ["A"]
