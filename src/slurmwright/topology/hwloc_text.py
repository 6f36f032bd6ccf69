"""Turns the XML that `lstopo` exports into objects with their lines, and objects back into XML text.

Comments go: hwloc built without libxml2 reads `<topology` right behind the document type and nothing before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from slurmwright.core.errors import InputError

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
_DEEPEST = 100


@dataclass(frozen=True)
class Element:
    """One element: its attributes, the elements in it, the text of one that has none, and its line."""

    tag: str
    attributes: Mapping[str, str]
    parts: tuple[Element, ...] = ()
    text: str = ""
    line: int = 0

    @property
    def type(self) -> str:
        """What kind of object it is, such as Package; "" for what is no object."""
        return self.attributes.get("type", "") if self.tag == "object" else ""

    def objects(self) -> Iterator[Element]:
        """The objects right below it."""
        return (part for part in self.parts if part.tag == "object")


@dataclass
class _Open:
    """An element whose end has not been read yet."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    parts: list[Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def closed(self) -> Element:
        text = "".join(self.text).strip()
        return Element(self.tag, self.attributes, tuple(self.parts), text, self.line)


def read_topology(text: str, file: str) -> Element:
    """The `topology` element of an export of hwloc 2; InputError for anything else."""
    root = _parsed(text, file)
    if root.tag != "topology" or not root.attributes.get("version", "1").startswith("2."):
        found = f"<{root.tag}>" if root.tag != "topology" else "the format of hwloc 1"
        raise InputError.of(
            f"is {found}; expected the topology of hwloc 2: `lstopo-no-graphics --of xml FILE`",
            file,
            root.line,
        )
    return root


def write_topology(root: Element) -> str:
    """The text of a file that hwloc loads from HWLOC_XMLFILE."""
    return _HEAD + "\n".join(_lines(root, 0)) + "\n"


def read_bitmap(text: str) -> int:
    """`0x0000ffff,,0xffffffff`: words of 32 bits, highest first, empty for zero; raises ValueError."""
    bits = 0
    for word in text.split(","):
        if not re.fullmatch(r"(0x[0-9a-f]{1,8})?", word):
            raise ValueError(f"'{text}' is no set of hwloc's, such as 0x0000ffff,0xffffffff")
        bits = bits << 32 | int(word or "0", 16)
    return bits


def write_bitmap(members: Iterable[int]) -> str:
    """The same text from the numbers of its bits."""
    bits = sum(1 << member for member in set(members))
    words = [bits >> at & 0xFFFFFFFF for at in range(0, max(bits.bit_length(), 1), 32)]
    return ",".join(f"0x{word:08x}" for word in reversed(words))


def members_of(bits: int) -> tuple[int, ...]:
    """The numbers of the bits that are set, lowest first."""
    return tuple(at for at in range(bits.bit_length()) if bits >> at & 1)


def _parsed(text: str, file: str) -> Element:
    parser = expat.ParserCreate()
    stack = [_Open("", {}, 0)]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > _DEEPEST:
            raise InputError.of("has objects too deep in each other", file, parser.CurrentLineNumber)
        stack.append(_Open(tag, attributes, parser.CurrentLineNumber))

    def end(_: str) -> None:
        element = stack.pop().closed()
        stack[-1].parts.append(element)

    def entity(name: str, *_: object) -> None:
        raise InputError.of(
            f"declares the entity '{name}'; no export of hwloc does", file, parser.CurrentLineNumber
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda data: stack[-1].text.append(data)
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise InputError.of(f"is no XML: {expat.errors.messages[error.code]}", file, error.lineno) from None
    return stack[0].parts[0]


def _lines(element: Element, depth: int) -> Iterator[str]:
    head = "  " * depth + "<" + element.tag
    head += "".join(f" {key}={quoteattr(value)}" for key, value in element.attributes.items())
    if not element.parts:
        yield f"{head}>{escape(element.text)}</{element.tag}>" if element.text else f"{head}/>"
        return
    yield head + ">"
    for part in element.parts:
        yield from _lines(part, depth + 1)
    yield "  " * depth + f"</{element.tag}>"
