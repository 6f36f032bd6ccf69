"""doctor over a real sshd: its script runs there, and a refused host is a finding beside the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from slurmwright.cli.doctor import doctor


def test_a_host_is_looked_at_over_ssh_and_a_stranger_is_a_finding(sshd: Any, tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(
        'name: pod1\nslurm: {release: "24.11"}\ncontrol: {controllers: [ctl1]}\n'
        'nodes:\n  - {hosts: "n[1-2]", type: dgx-h100}\npartitions:\n  - {name: p, nodes: all}\n'
    )
    (tmp_path / "ssh_config").write_text(sshd.config("n1") + sshd.config("n2", known="wrong_hosts"))
    where = ["-i", str(tmp_path), "--ssh-config", str(tmp_path / "ssh_config"), "--format", "json"]
    done = CliRunner().invoke(doctor, [*where, "n[1-2]"])
    findings = json.loads(done.stdout)["findings"]
    assert done.exit_code == 1
    (lost,) = (one for one in findings if one["host"] == "n2")
    assert (lost["rule"], "host key is not the one" in lost["message"]) == ("DR090", True)
