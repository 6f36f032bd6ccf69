"""The bytes of a topology file to elements, read as NCCL's own reader reads them, and refused as it refuses.

That reader is no XML parser: a tab, a line break between attributes, an XML declaration or a byte order mark
end it, a comment whose first word holds `=` does too, while entities stay as they are and elements that it
does not know are skipped whatever their closing tags are called (src/graph/xml.cc, v2.18.6 to v2.30.7).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from slurmwright.catalogue.nccl_versions import NcclVersion, since, topology_facts

#: What each element may hold; anything else is skipped.
CHILDREN: dict[str, tuple[str, ...]] = {
    "": ("system",),
    "system": ("cpu",),
    "cpu": ("pci", "nic"),
    "pci": ("pci", "gpu", "nic", "pcilink"),
    "gpu": ("nvlink", "c2c"),
    "nic": ("net",),
}
MAX_DEPTH = 300
_ENDS = " >/\n\r"
_BLANKS = re.compile("[ \n\r]*")
_OPEN, _CLOSE, _SINGLE, _NOTHING = "open", "close", "single", "nothing"


class Refused(Exception):  # noqa: N818 - a verdict, not an error of ours
    """NCCL stops reading here. `crash` where it writes over its own memory instead of saying so."""

    def __init__(self, message: str, line: int, crash: bool = False) -> None:
        super().__init__(message)
        self.message, self.line, self.crash = message, line, crash


@dataclass(frozen=True)
class Attribute:
    """One key with its value as it stands, undecoded; `line` counts from 1."""

    key: str
    value: str
    line: int


@dataclass
class Element:
    """One element that NCCL keeps; `ignored` are those inside it that it skips, by name and line."""

    name: str
    line: int
    attributes: tuple[Attribute, ...] = ()
    children: list[Element] = field(default_factory=list)
    ignored: list[tuple[str, int]] = field(default_factory=list)
    parent: Element | None = field(default=None, repr=False, compare=False)

    def get(self, key: str) -> str | None:
        """The first value of a key: NCCL looks no further."""
        return next((one.value for one in self.attributes if one.key == key), None)

    def below(self, *names: str) -> list[Element]:
        """Every element of these names inside it, at any depth, in order."""
        found: list[Element] = []
        for child in self.children:
            found += [child] if child.name in names else []
            found += child.below(*names)
        return found

    @property
    def above(self) -> list[Element]:
        """The elements around it, the nearest first."""
        return [self.parent, *self.parent.above] if self.parent else []


@dataclass(frozen=True)
class _Tag:
    kind: str
    name: str
    line: int
    attributes: tuple[Attribute, ...] = ()


def c_int(text: str) -> int:
    """strtol with base 0: blanks, a sign, 0x or a leading 0, and what follows the number is ignored."""
    text = text.lstrip(" \t\n\v\f\r")
    sign = -1 if text.startswith("-") else 1
    text = text.removeprefix("-") if sign < 0 else text.removeprefix("+")
    base = 16 if text[:2].lower() == "0x" else 8 if text[:1] == "0" else 10
    digits = "0123456789abcdef"[:base]
    number = 0
    for char in text[2 if base == 16 else 0 :].lower()[:40]:
        if char not in digits:
            break
        number = number * base + digits.index(char)
    return sign * number


class _Reader:
    """One pass over the bytes of one file, under the limits of one version."""

    def __init__(self, data: bytes, version: NcclVersion) -> None:
        self.text = data.decode("latin-1")
        self.at = 0
        self.line = 1
        facts = topology_facts()
        self.version = version
        self.elements: int = since(facts["elements"], version)
        self.children: int = since(facts["children"], version)
        self.children_checked = version.at_least(facts["children_checked"])
        self.values_checked = version.at_least(facts["values_checked"])
        self.single_quotes = version.at_least(facts["single_quotes"])
        self.token: int = facts["token"]
        self.attributes: int = facts["attributes"]
        self.known: dict[str, str] = facts["elements_known"]
        self.count = 0

    def char(self) -> str:
        if self.at >= len(self.text):
            raise Refused("the file ends inside a tag", self.line)
        char = self.text[self.at]
        self.at += 1
        self.line += char == "\n"
        return char

    def tag(self) -> _Tag:
        """The next tag after blanks and comments."""
        while True:
            blanks = _BLANKS.match(self.text, self.at)
            self._jump(blanks.end() if blanks else self.at)
            line = self.line
            if self.at >= len(self.text):
                return _Tag(_NOTHING, "", line)
            if (char := self.char()) != "<":
                raise Refused(f"expected '<', found {_shown(char)}{_hint(char)}", line)
            name, _, last = self._word(valued=False)
            if not name.startswith("!--"):
                return self._close(line) if not name and last == "/" else self._open(name, last, line)
            self._comment(name[3:] + last, line)

    def _close(self, line: int) -> _Tag:
        name, _, last = self._word(valued=False)
        if last != ">":
            raise Refused(f"{_shown(last)} after the name in the closing tag </{name}", line)
        return _Tag(_CLOSE, name, line)

    def _open(self, name: str, last: str, line: int) -> _Tag:
        found: list[Attribute] = []
        while last == " ":
            key, value, last = self._word(valued=True)
            found.append(Attribute(key, value, self.line - (last == "\n")))
        if len(found) > self.attributes:
            message = f"<{name}> has {len(found)} attributes, and NCCL has room for {self.attributes}"
            raise Refused(message, line, crash=True)
        kind = _OPEN
        if last == "/":
            kind, (_, _, last) = _SINGLE, self._word(valued=False)
        if last != ">":
            raise Refused(f"expected '>' to end <{name}, found {_shown(last)}{_hint(last)}", line)
        return _Tag(kind, name, line, tuple(found))

    def _word(self, valued: bool) -> tuple[str, str, str]:
        """A name, its value where one follows, and the character that ended them."""
        start, line = self.at, self.line
        while True:
            char = self.char()
            if char == "=":
                name = self.text[start : self.at - 1]
                if not valued:
                    raise Refused(f"'=' in the name {_cut(name)}; a comment needs a blank after <!--", line)
                return (_c_text(name), *self._value(name))
            if self.at - start > self.token + 1:
                raise Refused(
                    f"the name {_cut(self.text[start : self.at])} is longer than {self.token}", line
                )
            if char in _ENDS:
                return _c_text(self.text[start : self.at - 1]), "", char

    def _value(self, name: str) -> tuple[str, str]:
        line, quote = self.line, self.char()
        if quote not in "\"'":
            raise Refused(f"the value of {_cut(name)} is not in quotes, or a blank stands beside '='", line)
        if quote == "'" and not self.single_quotes:
            return self._old_single(name, line)
        start = self.at
        while self.char() != quote:
            if self.values_checked and self.at - start > self.token:
                raise Refused(f"the value of {_cut(name)} is longer than {self.token} characters", line)
        value = self.text[start : self.at - 1]
        if len(value) > self.token + 2:
            raise Refused(f"the value of {_cut(name)} has {len(value)} characters", line, crash=True)
        return _c_text(value), self.char()

    def _old_single(self, name: str, line: int) -> tuple[str, str]:
        """Before 2.27 a value that begins with ' ends at the next double quote, wherever that is."""
        end = self.text.find('"', self.at)
        if end < 0 or self.text[end + 1 : end + 2] not in (" ", ">", "/"):
            raise Refused(f"the value of {_cut(name)} is in single quotes, which NCCL takes from 2.27", line)
        value = self.text[self.at : end]
        self._jump(end + 1)
        return _c_text(value), self.char()

    def _comment(self, started: str, line: int) -> None:
        if started.endswith("-->"):
            return
        end = self.text.find("-->", self.at - min(2, len(started)))
        if end < 0:
            raise Refused("the comment has no end", line)
        self._jump(end + 3)

    def _jump(self, at: int) -> None:
        self.line += self.text.count("\n", self.at, at)
        self.at = at

    def load(self, head: Element, depth: int = 0) -> None:
        """Everything up to the closing tag of `head`, or to the end of the file for the root (no name)."""
        while True:
            if self.count >= self.elements:
                message = f"has {self.elements} elements or more; NCCL reads {self.elements - 1}"
                raise Refused(message, self.line)
            tag = self.tag()
            if tag.kind == _NOTHING:
                if head.name:
                    raise Refused(f"<{head.name}> of line {head.line} is not closed", self.line)
                return
            if head.name and tag.kind == _CLOSE:
                if tag.name != head.name:
                    raise Refused(f"</{tag.name}> closes <{head.name}> of line {head.line}", tag.line)
                return
            if tag.name in CHILDREN.get(head.name, ()) and self._knows(tag.name):
                self._add(head, tag, depth)
            else:
                head.ignored.append((tag.name, tag.line))
                self._skip(tag, depth)

    def _knows(self, name: str) -> bool:
        return name not in self.known or self.version.at_least(self.known[name])

    def _add(self, head: Element, tag: _Tag, depth: int) -> None:
        if head.name and len(head.children) >= self.children:
            message = f"<{head.name}> of line {head.line} holds more than {self.children} elements"
            raise Refused(message, tag.line, crash=not self.children_checked)
        _deep(depth, tag.line)
        child = Element(tag.name, tag.line, tag.attributes, parent=head if head.name else None)
        head.children.append(child)
        self.count += 1
        if child.name == "system":
            _check_version(child)
        if tag.kind != _SINGLE:
            self.load(child, depth + 1)

    def _skip(self, tag: _Tag, depth: int) -> None:
        """An element that NCCL does not know, up to any closing tag."""
        _deep(depth, tag.line)
        if tag.kind == _SINGLE:
            return
        while True:
            inner = self.tag()
            if inner.kind == _NOTHING:
                raise Refused(f"<{_cut(tag.name)}> of line {tag.line} is not closed", tag.line)
            if inner.kind == _CLOSE:
                return
            self._skip(inner, depth + 1)


def read_elements(data: bytes, version: NcclVersion) -> Element:
    """The root without a name whose children are the <system> elements; raises Refused."""
    root = Element("", 0)
    _Reader(data, version).load(root)
    return root


def _check_version(system: Element) -> None:
    version = system.get("version")
    if version is None:
        raise Refused('<system> has no version; NCCL wants version="1"', system.line)
    if c_int(version) != 1:
        raise Refused(f'version="{version}" of <system>; NCCL wants 1', system.line)


def _deep(depth: int, line: int) -> None:
    if depth > MAX_DEPTH:
        raise Refused(f"elements stand more than {MAX_DEPTH} deep", line)


def _cut(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _shown(char: str) -> str:
    named = {"\t": "a tab", "\n": "a line break", "\r": "a line break", " ": "a blank"}
    return named.get(char, repr(char))


def _hint(char: str) -> str:
    hints = {
        "\t": "; NCCL takes blanks only",
        "\n": "; NCCL wants all attributes on one line",
        "\r": "; NCCL wants all attributes on one line",
        "?": "; NCCL takes no <?xml …?> line",
        "\xef": "; NCCL takes no byte order mark",
    }
    return hints.get(char, "")


def _c_text(text: str) -> str:
    """Text as C sees it: up to the first null byte."""
    return text.partition("\0")[0]
