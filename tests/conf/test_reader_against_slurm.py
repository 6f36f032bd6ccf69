"""The lines at which a real Slurm reports a parse error are the lines that we report."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from slurmwright.conf import Statement, parse

#: The last line is wrong so that sinfo always stops before it looks for a daemon.
TEXT = """\
ClusterName=x # fine
 AuthType = auth/munge
SlurmctldPort=
SlurmctldPort=6817 SlurmdPort=6818
MailProg="/bin/true # x"
MailProg="/bin/true \\# x"
SchedulerParameters="a b
SchedulerParameters=a b
SlurmdParameters=""
just words
 Include /tmp/slurm.conf
NodeName=n1 \\
  CPUs=2 \\ # comment
  Sockets=2
NodeName=n2 CPUs=2 \\
# this comment ends the line before
  Gres=
NodeName=n3 Reason="no end
NodeName=n4 Reason="no end # here"
NodeName=n5 junk CPUs=2
NodeName=n6 \\\\
PartitionName=p1 Nodes=n1 Default="YES"
PartitionName=p2 Nodes="n1 Default=NO
PartitionName=p3 Default= Nodes=n1 junk
the end
"""


@pytest.mark.rehearsal
@pytest.mark.parametrize("series", ["22.05", "24.11", "26.05"])
def test_parse_errors_of_sinfo_are_our_problems(
    series: str, slurm_root: Callable[[str], Path], tmp_path: Path
) -> None:
    root = slurm_root(series)
    (tmp_path / "slurm.conf").write_text(TEXT)
    script = 'mount --bind "$0" "$1/tmp" && exec env SLURM_CONF=/tmp/slurm.conf chroot "$1" sinfo'
    done = subprocess.run(
        ["unshare", "-m", "-n", "sh", "-c", script, str(tmp_path), str(root)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    told = {int(line) for line in re.findall(r"Parse error in file \S+ line (\d+)", done.stderr)}
    assert max(told) == TEXT.count("\n"), done.stderr
    doc = parse(TEXT)
    assert told == {s.line for s in doc.statements if any(_within(TEXT, s, p.line) for p in doc.problems)}


def _within(text: str, statement: Statement, line: int) -> bool:
    start, end = statement.start, statement.end
    return text.count("\n", 0, start) < line <= text.count("\n", 0, end)
