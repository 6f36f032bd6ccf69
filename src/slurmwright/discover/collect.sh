# shellcheck shell=sh
# Prints what a host's hardware and software say, in sections; reads only, needs no root, ends by itself.
# A section: "@@slurmwright begin NAME", the output, "@@slurmwright end NAME STATUS". Programs that are missing leave
# an empty section of status 127. Nothing here is bash: nodes of all kinds have a POSIX sh.
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
value() { read -r word <"$1" || word=; printf ' %s=%s' "$2" "$(printf %s "$word" | tr ' ' '_')"; }
system() {
    printf 'host=%s\nkernel=%s\narch=%s\n' "$(uname -n)" "$(uname -r)" "$(uname -m)"
    sed -n 's/^PRETTY_NAME="\{0,1\}\([^"]*\)"\{0,1\}$/os=\1/p' /etc/os-release
    printf 'cgroup=%s\n' "$(stat -fc %T /sys/fs/cgroup)"
    for path in /proc/sys/user/max_user_namespaces /proc/sys/kernel/unprivileged_userns_clone \
        /proc/sys/kernel/apparmor_restrict_unprivileged_userns; do
        [ -r "$path" ] && printf '%s=%s\n' "${path##*/}" "$(cat "$path")"
    done
    printf 'cuda=%s\n' "$(program nvidia-smi | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p')"
    printf 'slurm=%s\n' "$(program slurmd -V)"
    printf 'munge=%s\n' "$(program munge --version | head -n 1)"
    printf 'enroot=%s\n' "$(program enroot version | head -n 1)"
    for path in /usr/lib*/slurm/spank_pyxis.so /usr/lib/*/slurm*/spank_pyxis.so /usr/local/lib*/slurm/spank_pyxis.so; do
        [ -e "$path" ] || continue
        printf 'pyxis=%s\n' "$path"
        # Its own version symbol is read from the bytes; a file that is no plugin may be of any size.
        [ "$(wc -c <"$path")" -gt 1000000 ] || printf 'pyxis_file=%s\n' "$(gzip -c "$path" | base64 -w 0)"
    done
    true
}
numa() {
    for node in /sys/devices/system/node/node[0-9]*; do
        [ -d "$node" ] || continue
        cpus=$(cat "$node/cpulist")
        first=${cpus%%[-,]*}
        package=
        [ -n "$first" ] && package=$(cat "/sys/devices/system/cpu/cpu$first/topology/physical_package_id")
        memory=$(sed -n 's/.*MemTotal: *\([0-9]*\) kB/\1/p' "$node/meminfo")
        printf 'node=%s cpus=%s package=%s memory_kb=%s\n' "${node##*/node}" "$cpus" "$package" "$memory"
    done
    printf 'siblings=%s\n' "$(cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list)"
}
pci() {
    for device in /sys/bus/pci/devices/*; do
        [ -r "$device/class" ] || continue
        read -r class <"$device/class"
        read -r vendor <"$device/vendor"
        case "$class:$vendor" in
            0x03*:0x10de | 0x02*) ;;
            *) [ -d "/proc/driver/nvidia/gpus/${device##*/}" ] || continue ;;
        esac
        printf 'pci=%s class=%s vendor=%s' "${device##*/}" "$class" "$vendor"
        for key in device numa_node local_cpulist current_link_speed max_link_speed current_link_width max_link_width; do
            [ -r "$device/$key" ] && value "$device/$key" "$key"
        done
        printf ' path=%s\n' "$(readlink -f "$device")"
    done
}
infiniband() {
    for device in /sys/class/infiniband/*; do
        [ -e "$device/device" ] || continue
        target=$(readlink -f "$device/device")
        printf 'device=%s pci=%s' "${device##*/}" "${target##*/}"
        [ -r "$device/fw_ver" ] && value "$device/fw_ver" firmware
        for key in rate state link_layer; do
            [ -r "$device/ports/1/$key" ] && value "$device/ports/1/$key" "$key"
        done
        for net in "$device"/device/net/*; do
            [ -e "$net" ] && printf ' interface=%s' "${net##*/}" && break
        done
        printf '\n'
    done
}
proc_gpus() { cat /proc/driver/nvidia/gpus/*/information; }
mig() { cat /proc/driver/nvidia-caps/mig-minors; }
query() {
    program nvidia-smi --format=csv,noheader,nounits \
        --query-gpu=pci.bus_id,name,memory.total,driver_version,vbios_version,mig.mode.current
}
# Slow and long: only where a GPU is divided, to learn which instances its devices are.
long_query() { query | grep -q 'Enabled *$' && program nvidia-smi -q; }
xml() { program lstopo-no-graphics --of xml -; }
section system system
section numa numa
section pci pci
section infiniband infiniband
section nvidia-proc proc_gpus
section nvidia-version cat /proc/driver/nvidia/version
section nvidia-smi-query query
section nvidia-smi-l program nvidia-smi -L
section nvidia-smi-q long_query
section nvidia-smi-topo program nvidia-smi topo -m
section mig-minors mig
section slurmd-c program slurmd -C
section lscpu program lscpu
section numactl program numactl -H
section meminfo cat /proc/meminfo
section ibdev2netdev program ibdev2netdev
section cgroup cat /proc/self/cgroup
section status cat /proc/self/status
section lstopo-xml xml
printf '@@slurmwright done\n'
