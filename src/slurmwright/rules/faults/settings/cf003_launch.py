"""CF003: launch parameters that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "CF003",
    "launch-parameters-at-odds",
    ERROR,
    why="""enable_nss_slurm and disable_send_gids exclude each other, and so do DisableIPv4 without
        EnableIPv6: no daemon starts.""",
    fix="keep one of the two words",
    references=(
        "Slurm source, src/common/read_config.c: enable_nss_slurm and disable_send_gids are mutually "
        "exclusive",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if config.has("LaunchParameters", "enable_nss_slurm") and config.has(
        "LaunchParameters", "disable_send_gids"
    ):
        yield Fault(
            "enable_nss_slurm and disable_send_gids exclude each other", config.place("LaunchParameters")
        )
    key = "CommunicationParameters"
    if config.has(key, "disableipv4") and not config.has(key, "enableipv6"):
        yield Fault("DisableIPv4 without EnableIPv6 leaves no network", config.place(key), about="ip")
