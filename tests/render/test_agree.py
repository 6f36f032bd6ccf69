"""Files of a bundle that contradict each other: each kind is found, with both places, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from slurmwright.core.bundle import Bundle, BundleFile, read_bundle
from slurmwright.core.errors import InputError
from slurmwright.core.finding import Severity
from slurmwright.model.cluster import Cluster
from slurmwright.render import bundle_notes, render
from slurmwright.render.agree import Disagreement, disagreements

Make = Callable[..., Cluster]
EXAMPLES = sorted((Path(__file__).parents[2] / "inventories").glob("*/rendered"))

SLURM, GRES, DBD = "/etc/slurm/slurm.conf", "/etc/slurm/gres.conf", "/etc/slurm/slurmdbd.conf"
TOPOLOGY, GPUS, SERVER = "/etc/slurm/topology.conf", "/etc/slurm/node_gpus.conf", "/etc/default/slurmd"
TMP, LOGS = "/etc/tmpfiles.d/slurmwright-{}.conf", "/etc/logrotate.d/{}"
UNIT = "/etc/systemd/system/{}.service.d/slurmwright.conf"
ENROOT, JOBS = "/etc/enroot/enroot.conf", "/etc/slurm/job_container.conf"


@pytest.fixture(scope="module")
def full(make: Make) -> Bundle:
    """A cluster with every kind of file beside each other."""
    return render(
        make(
            nodes='{hosts: "n[1-4]", type: small, address: "10.0.0.[1-4]", racks: {size: 2}}',
            control="{controllers: [ctl1, ctl2], database: db1, state_dir: /shared/state}",
            more="topology: tree\nscratch: {base: /local/scratch, private_tmp: true}\n"
            "containers: {runtime: enroot-pyxis}\n",
        ),
        {},
    )


def changed(bundle: Bundle, path: str, **fields: str) -> Bundle:
    """The bundle with one file's text, hosts, owner or mode changed; `old` and `new` edit the text."""
    old, new = fields.pop("old", ""), fields.pop("new", "")
    file = bundle.find(path)
    assert file is not None
    assert old in file.text
    edited = replace(file, text=file.text.replace(old, new), **fields)
    return replace(bundle, files=tuple(edited if one == file else one for one in bundle.files))


def without(bundle: Bundle, path: str) -> Bundle:
    assert bundle.find(path)
    return replace(bundle, files=tuple(file for file in bundle.files if file.path != path))


def words(found: tuple[Disagreement, ...]) -> str:
    return "\n".join(map(str, found))


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.parent.name)
def test_examples_agree(folder: Path) -> None:
    bundle, _ = read_bundle(folder)
    assert words(disagreements(bundle)) == ""


def test_a_full_bundle_agrees(full: Bundle) -> None:
    assert words(disagreements(full)) == ""


@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        # Names.
        (SLURM, "Nodes=ALL", "Nodes=n[3-6]", "partition p has n[5-6], no NodeName line"),
        (SLURM, "GresTypes=gpu", "GresTypes=mps", "nodes have gpu but GresTypes does not name it"),
        (SLURM, "GresTypes=gpu\n", "", "which has no GresTypes"),
        (TOPOLOGY, "Nodes=n[1-2]", "Nodes=n[1-2],x7", "has x7, no NodeName line of etc/slurm/slurm.conf"),
        (TOPOLOGY, "Nodes=n[1-2]", "Nodes=n1", "no switch reaches n2 (etc/slurm/slurm.conf:"),
        (TOPOLOGY, "Switches=", "Switches=far,", "leads to far, no SwitchName line has"),
        # GPUs.
        (
            SLURM,
            "gpu:h100:4",
            "gpu:h100:8",
            "slurm.conf says gpu:h100:8, etc/slurm/gres.conf gpu:h100:4 (line",
        ),
        (SLURM, "gpu:h100:4", "gpu:a100:4", "slurm.conf says gpu:a100:4, etc/slurm/gres.conf gpu:h100:4"),
        (GRES, "File=/dev/nvidia[0-1]", "File=/dev/nvidia0", "gpu:h100:4, etc/slurm/gres.conf gpu:h100:3"),
        (
            GRES,
            "NodeName=n[1-4]",
            "NodeName=n[1-3]",
            "n4: slurm.conf says gpu:h100:4, etc/slurm/gres.conf nothing",
        ),
        (GRES, "NodeName=n[1-4]", "NodeName=n[1-5]", "n5: no NodeName line has them"),
        (GPUS, "0 1 2 3", "0 1 2", "the health check looks for GPU 0-2, but etc/slurm/gres.conf:"),
        (GRES, "/dev/nvidia[2-3]", "/dev/nvidia[4-5]", "looks for GPU 0-3, but"),
        # Hosts.
        (SLURM, "SlurmctldHost=ctl2", "SlurmctldHost=ctl3", "makes ctl3 a controller"),
        (
            SERVER,
            "ctl1:6817",
            "ctl9:6817",
            "slurmd asks ctl9:6817,ctl2:6817, but slurm.conf's controllers are",
        ),
        (SLURM, "enable_configless", "idle_on_node_suspend", "which need enable_configless"),
        (
            SLURM,
            "ClusterName=test",
            "ClusterName=test\nSlurmctldPort=7000",
            "controllers are ctl1:7000,ctl2:7000",
        ),
        (SLURM, "AccountingStorageHost=db1", "AccountingStorageHost=db2", "is db2, but slurmdbd is on db1 ("),
        (
            SLURM,
            "AccountingStorageHost=db1\n",
            "",
            "AccountingStorageHost is not set, but slurmdbd is on db1",
        ),
        (SLURM, "=accounting_storage/slurmdbd", "=accounting_storage/none", "slurmctld does not use it"),
        (DBD, "DbdHost=db1", "DbdHost=db1\nDbdPort=7031", "AccountingStoragePort is 6819"),
        (DBD, "AuthType=auth/munge", "AuthType=auth/slurm", "do not meet: AuthType=auth/munge"),
        (DBD, "DbdHost=db1", "DbdHost=db3", "DbdHost is db3, but bundle.json gives the file to db1"),
        # Paths.
        (
            SLURM,
            "/etc/slurm/prolog.sh",
            "/etc/slurm/other.sh",
            "/etc/slurm/other.sh, which is not in the bundle",
        ),
        (SLURM, "/etc/slurm/epilog.sh", "gone.sh", "/etc/slurm/gone.sh, which is not in the bundle"),
        (
            SLURM,
            "/var/log/slurm/slurmd.log",
            "/data/slurmd.log",
            "SlurmdLogFile needs /data, which etc/tmpfiles.d",
        ),
        (SLURM, "/var/spool/slurmd\n", "/data/spool\n", "SlurmdSpoolDir needs /data/spool, which"),
        (DBD, "/var/log/slurm/slurmdbd.log", "/data/dbd.log", "LogFile needs /data, which etc/tmpfiles.d"),
        (TMP.format("slurmd"), "d /local/scratch/enroot/cache", "d /elsewhere", "ENROOT_CACHE_PATH lies in"),
        (ENROOT, "/local/scratch/enroot/data", "/local/other", "ENROOT_DATA_PATH lies in /local/other"),
        (JOBS, "AutoBasePath=true\nBasePath=/local", "BasePath=/else", "does not make and slurmd neither"),
        (
            LOGS.format("slurmctld"),
            "/var/log/slurm/slurmctld.log",
            "/var/log/slurmctld.log",
            "writes elsewhere",
        ),
        (
            UNIT.format("slurmctld"),
            "RequiresMountsFor=/shared",
            "RequiresMountsFor=/other",
            "state is elsewhere",
        ),
        (UNIT.format("slurmd"), "wait_for_gpus.sh", "wait.sh", "runs /etc/slurm/wait.sh, which bundle.json"),
        # Users.
        (DBD, "SlurmUser=slurm", "SlurmUser=acct", "SlurmUser of slurmdbd is acct, of slurmctld slurm (etc"),
        (SLURM, "SlurmUser=slurm", "SlurmUser=hpc", "gives /var/log/slurm to slurm, but SlurmUser hpc"),
        (
            UNIT.format("slurmctld"),
            "[Service]",
            "[Service]\nUser=root",
            "runs slurmctld as root, but SlurmUser",
        ),
        (
            UNIT.format("slurmdbd"),
            "[Service]",
            "[Service]\nUser=root",
            "runs slurmdbd as root, but SlurmUser",
        ),
        # Release.
        (
            SLURM,
            "select/cons_tres",
            "select/cons_res",
            "was dropped in Slurm 23.11",
        ),
        (DBD, "DbdHost", "DbdHosts", "did you mean 'DbdHost'"),
    ],
)
def test_an_edit_of_one_side_is_found(full: Bundle, path: str, old: str, new: str, said: str) -> None:
    found = words(disagreements(changed(full, path, old=old, new=new)))
    assert said in found


@pytest.mark.parametrize(
    ("path", "fields", "said"),
    [
        (SLURM, {"hosts": "ctl1"}, "goes to ctl1, but etc/slurm/slurm.conf:6 makes ctl2 a controller"),
        (GRES, {"hosts": "ctl2"}, "goes to ctl2, but etc/slurm/slurm.conf:5 makes ctl1 a controller"),
        (SERVER, {"hosts": "n[1-3]"}, "n4 get no slurm.conf, and no /etc/default/slurmd that names"),
        ("/etc/slurm/prolog.sh", {"hosts": "n[1-2]"}, "runs it on n[3-4] too"),
        ("/etc/slurm/prolog.sh", {"mode": "0644"}, "mode 0644 in bundle.json, but Prolog ("),
        (GPUS, {"hosts": "n[1-3]"}, "reads node_gpus.conf, which bundle.json does not give to n4"),
        ("/etc/slurm/wait_for_gpus.sh", {"hosts": "n1"}, "which bundle.json does not give to n[2-4]"),
        (
            LOGS.format("slurmd"),
            {"hosts": "n[1-3]"},
            "does not go to n4, where slurmd runs (etc/slurm/slurm.conf",
        ),
        (
            UNIT.format("slurmctld"),
            {"hosts": "ctl[1-2],n1"},
            "goes to n1, where no file of the bundle has a slurmctld",
        ),
        (
            TMP.format("slurmdbd"),
            {"hosts": "db2"},
            "does not go to db1, where slurmdbd runs (etc/slurm/slurmdbd",
        ),
        (DBD, {"owner": "root"}, "SlurmUser is slurm, but bundle.json gives the file to root"),
        (DBD, {"mode": "0640"}, "mode 0640 in bundle.json; slurmdbd stops unless it is 0600"),
    ],
)
def test_hosts_owners_and_modes_are_a_side_too(
    full: Bundle, path: str, fields: dict[str, str], said: str
) -> None:
    assert said in words(disagreements(changed(full, path, **fields)))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/etc/slurm/health_check.sh", "/etc/slurm/health_check.sh, which is not in the bundle"),
        (GPUS, "reads node_gpus.conf, which bundle.json does not give to n[1-4]"),
        (GRES, "slurm.conf says gpu:h100:4, gres.conf nothing (no line about them)"),
        (SERVER, "n[1-4] get no slurm.conf"),
    ],
)
def test_a_file_that_was_taken_out_is_missed(full: Bundle, path: str, said: str) -> None:
    assert said in words(disagreements(without(full, path)))


def test_both_places_are_named(full: Bundle) -> None:
    (found,) = disagreements(changed(full, GPUS, old="0 1 2 3", new="0 1"))
    assert str(found) == (
        "@gpus-0-3/etc/slurm/node_gpus.conf:4: n[1-4]: the health check looks for GPU 0-1, but "
        "etc/slurm/gres.conf:5, etc/slurm/gres.conf:6 names 0-3"
    )


def test_hosts_of_an_nvlink_domain_are_those_that_get_its_list(make: Make) -> None:
    bundle = render(
        make(
            nodes='{hosts: "t[1-4]", type: gb200-nvl72-tray, address: "10.0.0.[1-4]", racks: {size: 4}}',
            more="topology: {kind: block, size: 4}",
        ),
        {},
    )
    path = "/etc/nvidia-imex/nodes_config.cfg"
    assert words(disagreements(bundle)) == ""
    found = words(disagreements(changed(bundle, path, old="10.0.0.4\n", new="10.0.0.9\n")))
    assert "nodes_config.cfg:4: 10.0.0.9 is the address of none of its hosts t[1-4]" in found
    assert "lacks 10.0.0.4, the address of t4 (etc/slurm/slurm.conf:" in found


def test_nodes_of_topology_yaml_are_nodes(make: Make) -> None:
    bundle = render(
        make(
            nodes='{hosts: "n[1-4]", type: small, racks: {size: 2}}',
            release="25.05.2",
            more="topology: {kind: tree, format: yaml}",
        ),
        {},
    )
    found = words(disagreements(changed(bundle, "/etc/slurm/topology.yaml", old="n[1-2]", new="n[1-2],y1")))
    assert "has y1, no NodeName line" in found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Nodes=ALL", "Nodes=fast"),
        ("/etc/slurm/prolog.sh", "/opt/site/prolog.sh"),
        ("GresTypes=gpu", "Include more.conf\nGresTypes=mps"),
    ],
)
def test_what_cannot_be_known_is_no_fault(full: Bundle, old: str, new: str) -> None:
    text = "ClusterName=test\nNodeSet=fast Feature=f"
    bundle = changed(full, SLURM, old="ClusterName=test", new=text)
    assert words(disagreements(changed(bundle, SLURM, old=old, new=new))) == ""


def test_default_lines_count(full: Bundle) -> None:
    bundle = changed(full, SLURM, old="Gres=gpu:h100:4 ", new="")
    bundle = changed(bundle, SLURM, old="NodeName=n", new="NodeName=DEFAULT Gres=gpu:h100:4\nNodeName=n")
    assert words(disagreements(bundle)) == ""


def test_detected_gpus_are_counted_by_slurmd(make: Make) -> None:
    bundle = render(make(nodes='{hosts: "n[1-4]", type: small, autodetect: nvml}'), {})
    assert words(disagreements(changed(bundle, SLURM, old="gpu:h100:4", new="gpu:h100:3"))) == ""


def test_a_bundle_without_slurm_conf_has_nothing_to_compare() -> None:
    file = BundleFile("/etc/x", "etc/x", "h1", "root", "root", "0644", "")
    assert disagreements(Bundle("c", "24.11", (file,))) == ()


def test_render_refuses_what_an_override_puts_at_odds_and_names_the_word(make: Make) -> None:
    control = "{controllers: [ctl1], database: db1}"
    more = "overrides: {slurm.conf: {AccountingStoragePort: 7000}}"
    with pytest.raises(InputError) as caught:
        render(make(control=control, more=more), {})
    (line,) = str(caught.value).splitlines()
    assert line.startswith(
        "overrides: slurm.conf: AccountingStoragePort: slurmctld and slurmdbd do not meet: "
        "AccountingStoragePort=7000 (etc/slurm/slurm.conf:"
    )
    assert "DbdPort is 6819 in etc/slurm/slurmdbd.conf" in line
    both = "overrides: {slurm.conf: {AccountingStoragePort: 7000}, slurmdbd.conf: {DbdPort: 7000}}"
    assert render(make(control=control, more=both), {})


def test_a_program_that_only_the_site_can_bring_is_a_warning(make: Make) -> None:
    cluster = make(more="overrides: {slurm.conf: {Prolog: /etc/slurm/mine.sh}}")
    (note,) = bundle_notes(cluster, render(cluster, {}))
    assert note.severity is Severity.WARNING
    assert "/etc/slurm/mine.sh, which is not in the bundle" in note.message


def test_two_controllers_are_told_what_they_must_share(make: Make) -> None:
    control = "{controllers: [ctl1, ctl2], state_dir: /shared/state}"
    cluster = make(control=control, more="overrides: {slurm.conf: {SlurmctldTimeout: 300}}")
    (note,) = bundle_notes(cluster, render(cluster, {}))
    assert note.severity is Severity.INFO
    assert (
        "StateSaveLocation=/shared/state must be one folder on shared storage on ctl1, ctl2" in note.message
    )
    assert "SlurmctldTimeout=300 s" in note.message
    assert bundle_notes(make(), render(make(), {})) == ()
