"""The command line and environment that Ansible gets."""

from __future__ import annotations

from pathlib import Path

from slurmwright.apply.command import Request, environment, has_config, hosts_argv, playbook_argv


def test_options_reach_ansible_as_they_were_given(cluster_folder: Path) -> None:
    request = Request(
        cluster_folder,
        Path("site.yml"),
        limit="gpu*,!gpu1",
        check=True,
        diff=True,
        extra=("--ask-become-pass",),
    )
    argv = playbook_argv(request)
    assert argv[1:] == [
        f"--inventory={cluster_folder}/cluster.yaml",
        "--limit=gpu*,!gpu1",
        "--check",
        "--diff",
        "--ask-become-pass",
        "site.yml",
    ]
    assert "--limit=gpu*,!gpu1" in hosts_argv(request)


def test_the_admins_own_settings_of_ansible_stay_in_force(tmp_path: Path) -> None:
    request = Request(tmp_path, Path("site.yml"))
    (tmp_path / "ansible.cfg").write_text("[defaults]\n")
    assert "ANSIBLE_CONFIG" not in environment(request, {}, tmp_path)
    given = environment(request, {"ANSIBLE_CONFIG": "/site/ansible.cfg"}, tmp_path)
    assert given["ANSIBLE_CONFIG"] == "/site/ansible.cfg"


def test_without_any_settings_ours_are_named(tmp_path: Path) -> None:
    env = environment(Request(tmp_path, Path("site.yml")), {"HOME": str(tmp_path)}, tmp_path)
    if not Path("/etc/ansible/ansible.cfg").exists():
        assert Path(env["ANSIBLE_CONFIG"]).is_file()
    assert (Path(env["ANSIBLE_INVENTORY_PLUGINS"]) / "slurmwright.py").is_file()
    assert Path(env["ANSIBLE_ROLES_PATH"]).is_dir()


def test_settings_in_the_home_are_found(tmp_path: Path) -> None:
    (tmp_path / ".ansible.cfg").write_text("")
    assert has_config({"HOME": str(tmp_path)}, Path("/nonexistent"))


def test_a_chosen_bundle_is_named_by_an_absolute_path(tmp_path: Path) -> None:
    env = environment(Request(tmp_path, Path("site.yml"), bundle=Path("out")), {}, tmp_path)
    assert env["SLURMWRIGHT_BUNDLE"] == str(Path("out").absolute())
