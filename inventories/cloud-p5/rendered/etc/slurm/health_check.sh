#!/bin/sh
# Rendered by slurmwright for cloud. Changes belong in cluster.yaml: this file is written anew.
#
# HealthCheckProgram: drains this node, with the reason, when it has fewer GPUs than it must have. It never
# resumes a node and always exits 0. slurmd gives it 60 s; all waiting here ends after 30 + 10 + 10 s.

PATH=/usr/sbin:/usr/bin:/sbin:/bin${PATH:+:$PATH}
export PATH
here=$(dirname "$0")
dev=/dev
run=/run/slurmwright
limit=25
gpu_minors=
fault=

# nvidia-smi does not come back from a GPU that is lost, not even when killed: then it is left behind, with no
# output of this script in its hands (slurmd waits for the end of that), and not started a second time. Where its answer cannot be kept (a full /run), nothing is said about the GPUs.
ask_nvidia_smi() {
    { mkdir -p "$run" && echo "$$" >"$run/smi.test"; } 2>/dev/null || return
    if [ -s "$run/smi.pid" ] && [ ! -s "$run/smi.code" ]; then
        read -r earlier <"$run/smi.pid"
        # The number of a check that was ended may be another process's by now.
        if grep -q health_check "/proc/$earlier/cmdline" 2>/dev/null; then
            fault="nvidia-smi of an earlier check still hangs"
            return
        fi
    fi
    rm -f "$run/smi.code"
    begun=$(date +%s)
    {
        timeout -s KILL "$limit" nvidia-smi -L
        echo "$?" >"$run/smi.code"
    } >"$run/smi.out" 2>&1 </dev/null &
    echo "$!" >"$run/smi.pid"
    fifths=0
    until [ -s "$run/smi.code" ]; do
        if [ "$fifths" -gt "$((limit * 5 + 5))" ]; then
            fault="nvidia-smi hangs"
            return
        fi
        sleep 0.2
        fifths=$((fifths + 1))
    done
    read -r code <"$run/smi.code"
    seen=$(grep -c '^GPU ' "$run/smi.out")
    # Killed before its time is up, or not to be started: no word about a GPU.
    case $code in
        137) [ "$(($(date +%s) - begun))" -ge "$((limit - 1))" ] || return ;;
        126 | 127 | 130 | 143) return ;;
    esac
    if [ "$code" -eq 137 ]; then
        fault="nvidia-smi did not answer within $limit s"
    elif [ "$code" -ne 0 ]; then
        said=$(head -n 1 "$run/smi.out" | tr -cd 'A-Za-z0-9 .:_/-' | cut -c 1-100)
        fault="nvidia-smi failed with $code: $said"
    elif [ "$seen" -lt "$wanted" ]; then
        fault="nvidia-smi lists $seen of $wanted GPUs"
    fi
}

# A node that somebody has drained already keeps that reason.
drain() {
    node=$(uname -n)
    node=${SLURMD_NODENAME:-${node%%.*}}
    shown=$(timeout 10 scontrol show node "$node" -o 2>/dev/null) || return
    state=${shown#* State=}
    case ${state%% *} in
        *DRAIN*) return ;;
    esac
    timeout 10 scontrol update NodeName="$node" State=DRAIN Reason="health check: $1" >/dev/null 2>&1
}

if [ -r "$here/node_gpus.conf" ]; then
    # shellcheck source=/dev/null
    . "$here/node_gpus.conf"
fi
[ -n "$gpu_minors" ] || exit 0
wanted=0
missing=
for minor in $gpu_minors; do
    wanted=$((wanted + 1))
    [ -c "$dev/nvidia$minor" ] || missing="$missing $dev/nvidia$minor"
done
if [ -n "$missing" ]; then
    fault="no GPU device$missing"
elif command -v nvidia-smi >/dev/null 2>&1; then
    ask_nvidia_smi
fi
if [ -n "$fault" ]; then
    drain "$fault"
fi
exit 0
