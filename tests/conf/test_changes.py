"""Edits: only what is named changes, and each change is told."""

from collections.abc import Callable

import pytest

from slurmwright.conf import Document, Edit, changes, parse
from slurmwright.core.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Port=1 # keep\nOther=2\n", "Port=9 # keep\nOther=2\n"),
        ("port = 1\r\n", "port = 9\r\n"),
        ('Port="1"\n', 'Port="9"\n'),
        ("Port+=1\n", "Port+=9\n"),
        ("Port=1\nPort=2\n", "Port=1\nPort=9\n"),
        ("Port=\\\n  1\\\n2\n", "Port=\\\n  9\n"),
        ('Port="1 # 2"\n', 'Port=9 # 2"\n'),
        ("A=1\n", "A=1\nPort=9\n"),
        ("A=1", "A=1\nPort=9\n"),
        ("A=1\r\n", "A=1\r\nPort=9\r\n"),
        ("A=1 \\\n", "A=1 \\\n\nPort=9\n"),
        ("A=1 \\", "A=1 \\\n\nPort=9\n"),
        ("", "Port=9\n"),
        ("Port=9\n", "Port=9\n"),
    ],
)
def test_set_rewrites_the_value_that_counts_or_adds_a_line(text: str, expected: str) -> None:
    assert parse(text).set("Port", "9").text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1\nPort=1\nB=2\nport=2\n", "A=1\nB=2\n"),
        ("A=1\nPort=1 # why\n", "A=1\n # why\n"),
        ("Port=1 \\\n\nA=1\n", "A=1\n"),
        ("Port=1 A=1\n", "A=1\n"),
        ("Port=1 words\n", " words\n"),
        ("\\ Port=1\nA=1\n", "A=1\n"),
        ("NodeName=a Port=1\n", "NodeName=a Port=1\n"),
    ],
)
def test_unset_takes_all_lines_of_a_global_key_out(text: str, expected: str) -> None:
    assert parse(text).unset("Port").text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NodeName=a Port=1 CPUs=2 # c\n", "NodeName=a Port=9 CPUs=2 # c\n"),
        ("NodeName=a CPUs=2 # c\n", "NodeName=a CPUs=2 Port=9 # c\n"),
        ("NodeName=a CPUs=2# c\n", "NodeName=a CPUs=2 Port=9# c\n"),
        ("NodeName=a \\\n  CPUs=2 \\\n# c\n", "NodeName=a \\\n  CPUs=2 Port=9 \\\n# c\n"),
        ("NodeName=a words\n", "NodeName=a Port=9 words\n"),
        ("NodeName=a Port=1 port=2\n", "NodeName=a Port=1 port=9\n"),
        ('NodeName=a Reason="x\n', 'NodeName=a Reason="x Port=9\n'),
        ("NodeName=a", "NodeName=a Port=9"),
    ],
)
def test_set_on_a_line_rewrites_or_adds_a_pair_before_the_comment(text: str, expected: str) -> None:
    doc = parse(text)
    assert doc.set_on(doc.statements[0], "Port", "9").text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NodeName=a  Port=1 CPUs=2 # c\n", "NodeName=a CPUs=2 # c\n"),
        ("NodeName=a CPUs=2 Port=1# c\n", "NodeName=a CPUs=2# c\n"),
        ("NodeName=a \\\n  Port=1 \\\n  CPUs=2\n", "NodeName=a \\\n  CPUs=2\n"),
        ("NodeName=a \\ # c\n  Port=1 CPUs=2\n", "NodeName=a \\ # c\n CPUs=2\n"),
        ("NodeName=a\\ Port=1\nCPUs=2\n", "NodeName=a\nCPUs=2\n"),
        ("NodeName=a Port=1 CPUs=2 Port=3\n", "NodeName=a CPUs=2\n"),
        ("Port=1 Port=2 Name=gpu\n", " Name=gpu\n"),
        ("Port=1 \\ # c\n Name=gpu\n", " \\ # c\n Name=gpu\n"),
        ("Port=1 Port=2\nA=1\n", "A=1\n"),
        ("NodeName=a CPUs=2\n", "NodeName=a CPUs=2\n"),
    ],
)
def test_unset_on_a_line_takes_the_pair_and_the_gap_before_it(text: str, expected: str) -> None:
    doc = parse(text)
    assert doc.unset_on(doc.statements[0], "port").text == expected


def test_whole_lines_can_be_replaced_removed_and_added() -> None:
    doc = parse("A=1\r\nNodeName=a \\\r\n  CPUs=2\r\nInclude old\r\n")
    wanted = [
        *changes.replace_line(doc, doc.statements[1], "NodeName=b"),
        *changes.remove_line(doc, doc.statements[0]),
        *changes.replace_line(doc, doc.includes[0], "Include new"),
        *changes.append_line(doc, "NodeName=c"),
        *changes.append_line(doc, "NodeName=d"),
    ]
    new = doc.apply(wanted)
    assert new.text == "NodeName=b\r\nInclude new\r\nNodeName=c\r\nNodeName=d\r\n"
    assert [str(e) for e in new.edits] == [
        "line 1: A removed, was A=1",
        "line 2: NodeName: NodeName=a \\\r\n  CPUs=2 -> NodeName=b",
        "line 4: Include: Include old -> Include new",
        "line 5: NodeName added: NodeName=c",
        "line 5: NodeName added: NodeName=d",
    ]


def test_single_line_methods_do_the_same() -> None:
    doc = parse("A=1\nB=2\n")
    assert doc.replace_line(doc.statements[0], "A=3 # why").text == "A=3 # why\nB=2\n"
    assert doc.remove_statement(doc.statements[0]).text == "B=2\n"
    assert doc.append_line("# end").text == "A=1\nB=2\n# end\n"
    assert doc.replace_line(doc.statements[0], "A=1") is doc


def test_edits_tell_file_line_key_old_and_new() -> None:
    doc = parse("A=1\nNodeName=a CPUs=2\n", "slurm.conf").set("A", "5").unset("A")
    doc = doc.set_on(doc.statements[0], "Port", "7")
    assert doc.edits == (
        Edit("slurm.conf", 1, "A", "1", "5"),
        Edit("slurm.conf", 1, "A", "5", None),
        Edit("slurm.conf", 1, "Port", None, "7"),
    )
    assert str(doc.edits[0]) == "slurm.conf:1: A: 1 -> 5"
    assert doc.edits[1].as_json() == {"file": "slurm.conf", "line": 1, "key": "A", "old": "5", "new": None}


def test_setting_the_same_value_is_no_edit() -> None:
    doc = parse("A=1\n")
    assert doc.set("A", "1") is doc
    assert doc.unset("B") is doc


def test_many_changes_of_one_document_are_made_together() -> None:
    doc = parse("".join(f"NodeName=n{i} NodeAddr=a Port=1\n" for i in range(1000)))
    wanted = [
        change
        for number, line in enumerate(doc.statements)
        for change in (
            *changes.set_pair(doc, line, "NodeAddr", "127.0.0.1"),
            *changes.set_pair(doc, line, "Weight", str(number)),
            *changes.unset_pair(doc, line, "Port"),
        )
    ]
    new = doc.apply(wanted)
    assert new.text == "".join(f"NodeName=n{i} NodeAddr=127.0.0.1 Weight={i}\n" for i in range(1000))
    assert len(new.edits) == 3000


def test_later_change_of_one_value_counts() -> None:
    doc = parse("A=1\n")
    new = doc.apply([*changes.set_key(doc, "A", "2"), *changes.set_key(doc, "A", "3")])
    assert (new.text, len(new.edits)) == ("A=3\n", 1)


def test_overlapping_changes_are_refused() -> None:
    doc = parse("A=1\n")
    with pytest.raises(ValueError, match="overlap"):
        doc.apply([*changes.set_key(doc, "A", "2"), *changes.remove_line(doc, doc.statements[0])])


def test_statement_of_another_document_is_refused() -> None:
    old = parse("A=1\nB=2\n")
    new = old.set("A", "100")
    with pytest.raises(ValueError, match="another document"):
        new.set_on(old.statements[1], "B", "3")


@pytest.mark.parametrize("edit", [lambda d: d.set("NodeName", "a"), lambda d: d.unset("name")])
def test_key_that_begins_a_record_is_no_global_key(edit: Callable[[Document], Document]) -> None:
    with pytest.raises(ValueError, match="begins a record"):
        edit(parse("NodeName=b\n"))


def test_unreadable_line_cannot_get_a_pair() -> None:
    doc = parse("\nwords\n", "slurm.conf")
    with pytest.raises(InputError, match=r"^slurm.conf:2: Port cannot be set"):
        doc.set_on(doc.statements[0], "Port", "1")


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d.unset_on(d.statements[0], "A"),
        lambda d: d.set_on(d.statements[0], "A", " d"),
    ],
)
def test_edit_that_would_close_an_open_quote_elsewhere_is_refused(
    edit: Callable[[Document], Document],
) -> None:
    doc = parse('NodeName=a P="x A=c"d Q=e"\n', "slurm.conf")
    assert [p.value for p in doc.statements[0].pairs] == ["a", '"x', 'c"d', 'e"']
    with pytest.raises(InputError, match=r"^slurm.conf:1: a double quote is not closed"):
        edit(doc)
