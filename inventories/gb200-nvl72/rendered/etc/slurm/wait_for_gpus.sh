#!/bin/sh
# Rendered by slurmwright for nvl72. Changes belong in cluster.yaml: this file is written anew.
#
# Before slurmd starts: waits until every GPU has its device file, a minute at most, and never fails. slurmd
# itself gives up 20 s after it misses one, and at boot the driver may take longer than that.

PATH=/usr/sbin:/usr/bin:/sbin:/bin${PATH:+:$PATH}
export PATH
here=$(dirname "$0")
dev=/dev
limit=60
gpu_minors=

if [ -r "$here/node_gpus.conf" ]; then
    # shellcheck source=/dev/null
    . "$here/node_gpus.conf"
fi
[ -n "$gpu_minors" ] || exit 0
# Where no nvidia-persistenced runs, nothing makes the files before the first use of a GPU.
if command -v nvidia-modprobe >/dev/null 2>&1; then
    set --
    for minor in $gpu_minors; do
        set -- "$@" -c "$minor"
    done
    timeout -k 5 20 nvidia-modprobe -u "$@" </dev/null >/dev/null 2>&1
fi
waited=0
for minor in $gpu_minors; do
    until [ -c "$dev/nvidia$minor" ] || [ "$waited" -ge "$limit" ]; do
        sleep 1
        waited=$((waited + 1))
    done
done
exit 0
