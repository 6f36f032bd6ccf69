"""NC003: NCCL_SOCKET_IFNAME is a prefix, and more than one interface begins with it."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_seen import nccl_settings
from slurmwright.rules.rule import WARNING, Fault, Scope, rule


@rule(
    "NC003",
    "interfaces-by-prefix",
    WARNING,
    scope=Scope.FACTS,
    why="""NCCL_SOCKET_IFNAME is a list of prefixes: eth means eth0 and eth-mgmt, and the order decides. A
        management network that is not routed between the nodes ends in a hang, docker0 in connections to
        oneself.""",
    fix="NCCL_SOCKET_IFNAME==eth0: the leading = makes it exact",
    references=(
        "https://github.com/NVIDIA/nccl/issues/286",
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    found = nccl_settings(seen).get("NCCL_SOCKET_IFNAME")
    output = seen.capture("ip_-br_addr.txt", "ip_-br_link.txt", "ip_addr.txt")
    if found is None or output is None or found.text.startswith(("=", "^")):
        return
    names = [line.split()[0].partition("@")[0] for line in output.text.split("\n") if line.strip()]
    for prefix in filter(None, found.text.split(",")):
        matched = [name for name in names if name.startswith(prefix)]
        if len(matched) > 1:
            best = prefix if prefix in matched else matched[0]
            yield Fault(
                f"{prefix} means {' and '.join(matched[:4])}; for one of them write "
                f"NCCL_SOCKET_IFNAME=={best}",
                found.place,
                fix=f"NCCL_SOCKET_IFNAME=={best}",
                about=prefix,
            )
        elif not matched:
            text = f"no interface begins with {prefix}; there are {', '.join(names[:6])}"
            yield Fault(text, found.place, about=prefix)
