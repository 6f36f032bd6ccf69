"""Host ranges as each release reads them."""

from __future__ import annotations

import pytest

from slurmwright.core.release import Release
from slurmwright.render.hostlist import fold_for


@pytest.mark.parametrize(
    ("release", "names", "ordered", "text"),
    [
        ("22.05", ["gpu2", "gpu1"], False, "gpu[1-2]"),
        ("22.05", ["10.0.0.2", "10.0.0.1"], True, "10.0.0.[2,1]"),
        ("22.05", ["n1.pod", "n2.pod"], False, "n1.pod,n2.pod"),
        ("22.05", ["r1n1", "r1n2", "r2n1", "r2n2"], False, "r[1-2]n[1-2]"),
        ("22.05", ["r1-n1.x", "r2-n1.x"], False, "r1-n1.x,r2-n1.x"),
        ("23.02", ["n1.pod", "n2.pod"], False, "n1.pod,n2.pod"),
        ("23.11", ["n1.pod", "n2.pod"], False, "n[1-2].pod"),
        ("22.05", ["a1", "b1", "a2"], True, "a1,b1,a2"),
    ],
)
def test_a_list_of_names_is_folded(release: str, names: list[str], ordered: bool, text: str) -> None:
    assert fold_for(Release.parse(release), names, ordered=ordered) == text
