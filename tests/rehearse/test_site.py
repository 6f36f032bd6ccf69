"""What only the site can bring leaves a rehearsal, is listed, and nothing else goes with it."""

from __future__ import annotations

import pytest

from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.release import Release
from slurmwright.rehearse.adapt import adapt
from slurmwright.rehearse.site import PROGRAMS


def _file(path: str, text: str = "") -> BundleFile:
    return BundleFile(path, path.lstrip("/"), "ctl1", "root", "root", "0644", text)


def _adapted(text: str, *more: BundleFile) -> tuple[list[str], dict[str, tuple[str, str]]]:
    """slurm.conf in a rehearsal, without the lines that every rehearsal adds, and what was listed."""
    files = (_file("/etc/slurm/slurm.conf", text), *more)
    bundle, made = adapt(Bundle("pod1", "24.11", files), Release("24.11", 5), {})
    after = next(file.text for file in bundle.files if file.path.endswith("/slurm.conf"))
    return after.splitlines()[: len(text.splitlines())], {a.key: (a.old, a.new) for a in made}


@pytest.mark.parametrize("key", PROGRAMS)
def test_a_program_that_the_bundle_does_not_bring_is_not_run(key: str) -> None:
    lines, listed = _adapted(f"ClusterName=a\n{key}=/opt/site/run\nMpiDefault=none\n")
    assert lines == ["ClusterName=a", f"# not in a rehearsal: {key}=/opt/site/run", "MpiDefault=none"]
    assert listed[key] == ("/opt/site/run", "")


@pytest.mark.parametrize(
    "value",
    ["/etc/slurm/prolog.sh", "/etc/slurm/*.sh", "/etc/slurm/prolog.sh,/etc/slurm/second.sh"],
)
def test_a_program_of_the_bundle_is_run(value: str) -> None:
    files = (_file("/etc/slurm/prolog.sh"), _file("/etc/slurm/second.sh"))
    lines, listed = _adapted(f"Prolog={value}\n", *files)
    assert lines == [f"Prolog={value}"]
    assert "Prolog" not in listed


def test_a_program_with_arguments_is_found_by_its_path() -> None:
    lines, _ = _adapted('HealthCheckProgram="/etc/slurm/check.sh -q"\n', _file("/etc/slurm/check.sh"))
    assert lines == ['HealthCheckProgram="/etc/slurm/check.sh -q"']


def test_of_several_prologs_only_the_one_that_is_missing_goes() -> None:
    lines, _ = _adapted("Prolog=/etc/slurm/a.sh\nProlog=/opt/b.sh\n", _file("/etc/slurm/a.sh"))
    assert lines == ["Prolog=/etc/slurm/a.sh", "# not in a rehearsal: Prolog=/opt/b.sh"]


def test_a_submit_script_of_the_site_is_not_asked_for() -> None:
    text = "JobSubmitPlugins=lua,require_timelimit\n"
    assert _adapted(text)[0] == ["JobSubmitPlugins=require_timelimit"]
    assert _adapted(text, _file("/etc/slurm/job_submit.lua"))[0] == text.splitlines()


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("AuthType=auth/slurm", "AuthType=auth/munge"),
        ("CredType=cred/slurm", "CredType=cred/munge"),
        ("AuthType=auth/munge", "AuthType=auth/munge"),
        ("AuthAltTypes=auth/jwt", "# not in a rehearsal: AuthAltTypes=auth/jwt"),
        ("AuthAltParameters=jwt_key=/k", "# not in a rehearsal: AuthAltParameters=jwt_key=/k"),
        ("PrologFlags=Contain,X11", "PrologFlags=Contain"),
        ("PrologFlags=x11", "# not in a rehearsal: PrologFlags=x11"),
        ("PrologFlags=Contain,Serial", "PrologFlags=Contain,Serial"),
        ("DisableRootJobs=YES", "# not in a rehearsal: DisableRootJobs=YES"),
        ("DisableRootJobs=NO", "DisableRootJobs=NO"),
        ("PartitionName=a Nodes=ALL DisableRootJobs=YES State=UP", "PartitionName=a Nodes=ALL State=UP"),
        ("PartitionName=a Nodes=ALL DisableRootJobs=no", "PartitionName=a Nodes=ALL DisableRootJobs=no"),
    ],
)
def test_what_a_rehearsal_cannot_have_is_replaced_and_nothing_else(line: str, after: str) -> None:
    lines, listed = _adapted(line + "\n")
    assert lines == [after]
    assert len(listed) == 3 + (line != after)


def test_slurmdbd_uses_munge_as_slurmctld_does() -> None:
    dbd = _file("/etc/slurm/slurmdbd.conf", "AuthType=auth/slurm\n")
    main = _file("/etc/slurm/slurm.conf", "AccountingStorageType=accounting_storage/slurmdbd\n")
    bundle, _ = adapt(Bundle("pod1", "24.11", (main, dbd)), Release("24.11", 5), {})
    text = next(file.text for file in bundle.files if file.path.endswith("slurmdbd.conf"))
    assert text.splitlines()[0] == "AuthType=auth/munge"


def test_a_program_that_slurmctld_would_boot_nodes_with_is_the_sites() -> None:
    text = "SlurmctldParameters=reboot_from_controller\nRebootProgram=/opt/site/boot\n"
    lines, listed = _adapted(text)
    assert lines[1] == "# not in a rehearsal: RebootProgram=/opt/site/boot"
    assert listed["RebootProgram"] == ("/opt/site/boot", "")


def test_a_program_that_slurmd_boots_with_stays() -> None:
    assert _adapted("RebootProgram=/usr/sbin/reboot\n")[0] == ["RebootProgram=/usr/sbin/reboot"]
