# shellcheck shell=sh
# Prints what is needed to tell why a host does not work, in sections as discover's script does; reads only, ends by
# itself, and needs no root where logs may be read without. TEXTS has a line for each text that a log is searched for;
# `numa`, `pci` and `proc_gpus` are discover's.
LC_ALL=C
export LC_ALL
PATH="$PATH:/usr/sbin:/sbin:/usr/local/sbin:/opt/slurm/bin:/opt/slurm/sbin"
limit() { if command -v timeout >/dev/null 2>&1; then timeout 20 "$@"; else "$@"; fi; }
section() {
    name=$1
    shift
    printf '@@slurmwright begin %s\n' "$name"
    "$@" 2>/dev/null </dev/null
    status=$?
    printf '\n@@slurmwright end %s %s\n' "$name" "$status"
}
program() { command -v "$1" >/dev/null 2>&1 || return 127; limit "$@"; }
said() { grep -aF "$TEXTS" "$@" | cut -c 1-2000 | tail -n 400; }
CONF=/etc/slurm
[ -r "$CONF/slurm.conf" ] || CONF=/run/slurm/conf
NAME=$(uname -n)
NAME=${NAME%%.*}
has_unit() { program systemctl cat "$1" >/dev/null 2>&1; }
# The log that slurm.conf or slurmdbd.conf names, else the journal.
log() {
    has_unit "$1" || return 0
    path=$(sed -n "s/^[[:space:]]*$2[[:space:]]*=[[:space:]]*//Ip" "$CONF/$3" | tail -n 1 | sed "s/%[hn]/$NAME/g")
    if [ -n "$path" ] && [ -r "$path" ]; then
        said "$path"
    else
        program journalctl -u "$1" -n 50000 --no-pager -o short-iso | said
    fi
}
kernel() { { program journalctl -k -b --no-pager -o short-iso || program dmesg; } | grep -aF 'NVRM: Xid' | tail -n 200; }
unit() { has_unit slurmd && program systemctl cat slurmd; }
limits() { has_unit slurmd && program systemctl show slurmd -p LimitMEMLOCK -p Delegate; }
units() {
    program systemctl list-units --all --plain --no-legend 'slurm*' 'munge*' 'nvidia-*'
}
settings() {
    program sysctl user.max_user_namespaces kernel.unprivileged_userns_clone \
        kernel.apparmor_restrict_unprivileged_userns
}
# Two minutes old: the cgroup of a job that has just begun or ended is no trace.
left() {
    find /sys/fs/cgroup -maxdepth 5 -type d \( -name 'job_*' -o -name 's?????????????' \) -path '*slurmstepd*' -mmin +2
}
# Of the options of exporters only what tells where they look: others hold passwords.
exporters() {
    program systemctl show '*exporter*.service' -p ExecStart --value |
        grep -oE '/[^ ;]*slurmstepd[.]scope[^ ;]*|v0[.]0[.][0-9]{2}'
}
exporter_log() { program journalctl -u '*exporter*' -n 5000 --no-pager -o short-iso | said; }
packages() { { program dpkg -l || program rpm -qa; } | grep -E 'nvidia-fabric-?manager'; }
bus() { program lspci -D | grep -i nvidia; }
mounts() { grep -E ' cgroup2? ' /proc/mounts; }
# One controller answers for all nodes.
nodes() { program systemctl is-active slurmctld >/dev/null && program scontrol -o show node; }
job() { [ -n "$JOB" ] && program scontrol show job -d "$JOB"; }
sum() { [ -r "$CONF/slurm.conf" ] && sha256sum <"$CONF/slurm.conf"; }
# Only root may read the key, and no more than a fingerprint of it leaves the host.
key() { [ -r /etc/munge/munge.key ] && sha256sum </etc/munge/munge.key | cut -c 1-16; }
queue() { has_unit slurmd && program squeue -w "$NAME" -o %A; }
devices() { ls -l /dev/nvidia[0-9]*; }
section name uname -n
section numa numa
section pci pci
section nvidia-proc proc_gpus
section devices devices
section slurmd-c program slurmd -C
section slurmd-v program slurmd -V
section nvidia-smi-l program nvidia-smi -L
section lspci bus
section lscpu program lscpu
section lsmod program lsmod
section modinfo program modinfo nvidia
section packages packages
section units units
section unit unit
section limits limits
section mounts mounts
section hierarchy stat -fc %T /sys/fs/cgroup
section sysctl settings
section slurm-conf cat "$CONF/slurm.conf"
section gres-conf cat "$CONF/gres.conf"
section cgroup-conf cat "$CONF/cgroup.conf"
section plugstack cat "$CONF/plugstack.conf"
section sum sum
section munge-key key
section queue queue
section left left
section exporters exporters
section exporter-log exporter_log
section nodes nodes
section job job
section slurmd-log log slurmd SlurmdLogFile slurm.conf
section slurmctld-log log slurmctld SlurmctldLogFile slurm.conf
section slurmdbd-log log slurmdbd LogFile slurmdbd.conf
section kernel kernel
section now date +%Y-%m-%dT%H:%M:%S
section clock date +%s
printf '@@slurmwright done\n'
