#!/bin/sh
# The document of probe.py, `slurmwright/probe/1`, for images without Python: POSIX sh, cat, ls, tr and fold.
# usage: sh probe.sh [--lines TAG] [--dev DIR] [--smi-limit SECONDS]
LC_ALL=C
export LC_ALL
tag='' dev=/dev patience=20
while [ $# -gt 1 ]; do
    case $1 in
        --lines) tag=$2 ;;
        --dev) dev=$2 ;;
        --smi-limit) patience=$2 ;;
    esac
    shift 2
done

# A JSON string; what is no printable ASCII is gone.
quoted() {
    rest=$1 made=''
    while :; do
        case $rest in
            *[\"\\]*)
                before=${rest%%[\"\\]*}
                after=${rest#"$before"}
                made=$made$before\\${after%"${after#?}"}
                rest=${after#?}
                ;;
            *) break ;;
        esac
    done
    printf '"%s"' "$made$rest"
}

# A number, or null.
number() {
    case $1 in
        '' | *[!0-9-]*) printf null ;;
        *) printf %s "$1" ;;
    esac
}

# The first line of a file. dash reads byte by byte, to which the kernel gives nothing of a list of CPUs.
first() {
    line=$(cat "$1" 2>/dev/null)
    printf %s "${line%%
*}"
}

# How opening ends: the shell says in words what open(2) told.
opened() {
    if [ "$2" = rw ]; then
        said=$( (: <>"$1") 2>&1) && said=opened
    else
        said=$( (: <"$1") 2>&1) && said=opened
    fi
    case $said in
        opened) printf opened ;;
        *'not permitted'*) printf EPERM ;;
        *'ermission denied'*) printf EACCES ;;
        *'No such device or address'*) printf ENXIO ;;
        *'No such device'*) printf ENODEV ;;
        *'nput/output error'*) printf EIO ;;
        *'busy'*) printf EBUSY ;;
        *'No such file'* | *'nonexistent'*) printf ENOENT ;;
        *) printf %s unknown ;;
    esac
}

devices() {
    way=$1 comma=''
    shift
    printf '{'
    for path in "$@"; do
        [ -e "$path" ] || continue
        # shellcheck disable=SC2012 # the only way to a device's number that is POSIX
        seen=$(ls -lnd "$path" 2>/dev/null | tr , ' ')
        printf '%s' "$comma"
        quoted "$path"
        # shellcheck disable=SC2086 # words of ls
        set -- $seen
        case $1 in
            [cb]*) id=$5:$6 ;;
            *) id=0:0 ;;
        esac
        how=$(opened "$path" "$way")
        printf ': {"mode": "%s", "number": "%s", "open": "%s"}' "$1" "$id" "$how"
        comma=', '
    done
    printf '}'
}

environment() {
    comma=''
    printf '{'
    for name in SLURM_JOB_ID SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID SLURM_STEP_ID SLURM_PROCID SLURM_LOCALID \
        SLURMD_NODENAME SLURM_CPUS_ON_NODE SLURM_JOB_GPUS SLURM_STEP_GPUS SLURM_GPUS_ON_NODE \
        CUDA_VISIBLE_DEVICES NVIDIA_VISIBLE_DEVICES GPU_DEVICE_ORDINAL; do
        eval "is=\${$name+set} value=\${$name-}"
        [ -n "$is" ] || continue
        printf '%s"%s": ' "$comma" "$name"
        quoted "$value"
        comma=', '
    done
    printf '}'
}

gpus() {
    comma=''
    printf '{'
    for path in /proc/driver/nvidia/gpus/*/information; do
        [ -r "$path" ] || continue
        bus=${path%/information}
        bus=${bus##*/}
        minor=''
        while read -r one two value _; do
            [ "$one $two" = 'Device Minor:' ] && minor=$value
        done <"$path"
        printf '%s"%s": {"minor": %s, "numa": %s}' "$comma" "$bus" "$(number "$minor")" \
            "$(number "$(first "/sys/bus/pci/devices/$bus/numa_node")")"
        comma=', '
    done
    printf '}'
}

cgroup() {
    path='' top='' old='' lowest='' near='' whole=''
    while IFS= read -r line; do
        case $line in 0::*) path=${line#0::} ;; esac
    done </proc/self/cgroup
    while IFS= read -r line; do
        # shellcheck disable=SC2086 # words of the kernel
        case $line in
            *' - cgroup2 '*) [ -n "$top" ] || { set -- $line && top=$5; } ;;
            *' - cgroup '*) old=yes ;;
        esac
    done </proc/self/mountinfo
    mode=none
    [ -z "$old" ] || mode=v1
    [ -z "$top" ] || mode=v2
    [ -z "$top" ] || [ -z "$old" ] || mode=hybrid
    here=${path%/}
    while [ -n "$top" ] && [ -n "$here" ]; do
        limit=$(first "$top$here/memory.max")
        case $limit in
            '' | *[!0-9]*) ;;
            *) { [ -n "$lowest" ] && [ "$lowest" -le "$limit" ]; } || lowest=$limit ;;
        esac
        [ -n "$near" ] || near=$(first "$top$here/cpuset.cpus.effective")
        case ${here##*/} in job_[0-9]*) whole=$(first "$top$here/cpuset.cpus.effective") ;; esac
        here=${here%/*}
    done
    printf '{"cpus": '
    if [ -n "$near" ]; then quoted "$near"; else printf null; fi
    printf ', "job_cpus": '
    if [ -n "$whole" ]; then quoted "$whole"; else printf null; fi
    printf ', "memory_max": %s, "mode": "%s", "path": ' "$(number "$lowest")" "$mode"
    quoted "$path"
    printf '}'
}

status() {
    while read -r key value; do
        [ "$key" = "$1:" ] && quoted "$value" && return
    done </proc/self/status
    printf null
}

# This shell's own memory: 8 MiB of text, and what the kernel says of where its pages lie.
pages() {
    [ -n "$(first "/proc/$$/numa_maps")" ] || { printf null && return; }
    found=''
    while IFS= read -r line; do
        case $line in *' anon='*) ;; *) continue ;; esac
        for word in $line; do
            case $word in N[0-9]*=*) ;; *) continue ;; esac
            node=${word%%=*}
            node=${node#N}
            case $found in
                *" $node:"*)
                    was=${found#*" $node:"}
                    was=${was%% *}
                    found="${found%%" $node:"*} $node:$((was + ${word#*=})) ${found#*" $node:$was "}"
                    ;;
                *) found="$found $node:${word#*=} " ;;
            esac
        done
    done <"/proc/$$/numa_maps"
    comma=''
    printf '{'
    for one in $found; do
        printf '%s"%s": %s' "$comma" "${one%%:*}" "${one#*:}"
        comma=', '
    done
    printf '}'
}

numa() {
    comma=''
    printf '{'
    for path in /sys/devices/system/node/node[0-9]*/cpulist; do
        cpus=$(first "$path")
        [ -n "$cpus" ] || continue
        node=${path%/cpulist}
        printf '%s"%s": "%s"' "$comma" "${node##*/node}" "$cpus"
        comma=', '
    done
    printf '}'
}

limits() {
    comma=''
    printf '{'
    while IFS= read -r line; do
        case $line in
            'Max locked memory'*) name=memlock rest=${line#Max locked memory} ;;
            'Max open files'*) name=nofile rest=${line#Max open files} ;;
            'Max stack size'*) name=stack rest=${line#Max stack size} ;;
            *) continue ;;
        esac
        # shellcheck disable=SC2086 # words of the kernel
        set -- $rest
        printf '%s"%s": ["%s", "%s"]' "$comma" "$name" "$1" "$2"
        comma=', '
    done </proc/self/limits
    printf '}'
}

uid_map() {
    comma=''
    printf '['
    while read -r a b c; do
        printf '%s"%s %s %s"' "$comma" "$a" "$b" "$c"
        comma=', '
    done 2>/dev/null </proc/self/uid_map
    printf ']'
}

container() {
    comma=''
    printf '['
    for path in /.dockerenv /run/.containerenv; do
        [ -e "$path" ] && printf '%s"%s"' "$comma" "$path" && comma=', '
    done
    for name in container ENROOT_ROOTFS APPTAINER_NAME SINGULARITY_NAME PYXIS_RUNTIME_PATH; do
        eval "value=\${$name-}"
        [ -n "$value" ] && printf '%s"%s"' "$comma" "$name" && comma=', '
    done
    printf ']'
}

smi() {
    { [ "$patience" != 0 ] && command -v nvidia-smi >/dev/null 2>&1; } || { printf null && return; }
    limit=''
    command -v timeout >/dev/null 2>&1 && limit="timeout $patience"
    # shellcheck disable=SC2086 # a command and its limit
    told=$($limit nvidia-smi --query-gpu=index,pci.bus_id,uuid --format=csv,noheader 2>/dev/null </dev/null) ||
        { printf null && return; }
    comma=''
    printf '['
    while IFS= read -r line; do
        [ -n "$line" ] || continue
        printf '%s' "$comma"
        quoted "$line"
        comma=', '
    done <<END
$told
END
    printf ']'
}

everything() {
    printf '{"by": "sh", "caps": '
    devices r "$dev"/nvidia-caps/nvidia-cap[0-9]*
    printf ', "cgroup": '
    cgroup
    printf ', "container": '
    container
    printf ', "control": '
    devices rw "$dev"/nvidiactl "$dev"/nvidia-uvm*
    printf ', "cpus": '
    status Cpus_allowed_list
    printf ', "devices": '
    devices rw "$dev"/nvidia[0-9]*
    printf ', "env": '
    environment
    printf ', "format": "slurmwright/probe/1", "gpus": '
    gpus
    printf ', "host": '
    quoted "$(uname -n)"
    printf ', "infiniband": '
    devices rw "$dev"/infiniband/uverbs[0-9]*
    printf ', "limits": '
    limits
    printf ', "mems": '
    status Mems_allowed_list
    printf ', "numa": '
    numa
    printf ', "nvidia_smi": '
    smi
    printf ', "pages": '
    pages
    printf ', "time": %s, "uid": %s, "uid_map": ' "$(number "$(date +%s)")" "$(number "$(id -u)")"
    uid_map
    printf '}'
}

touched=xxxxxxxx
while [ ${#touched} -lt 8388608 ]; do touched=$touched$touched; done
text=$(everything | tr -cd '\40-\176')
if [ -z "$tag" ]; then
    printf '%s\n' "$text"
    exit 0
fi
head="@probe $tag $(uname -n)/${SLURM_JOB_ID-}.${SLURM_STEP_ID-}.${SLURM_PROCID-}/$$"
printf '%s' "$text" | fold -b -w 700 | while IFS= read -r piece || [ -n "$piece" ]; do
    printf '%s + %s\n' "$head" "$piece"
done
printf '%s .\n' "$head"
