#!/bin/sh
# Rendered by slurmwright for cloud. Changes belong in cluster.yaml: this file is written anew.
#
# Epilog, run by root on each node of a job after its last process: removes what the job left behind here, and
# with the user's last job on this node also what is the user's. An epilog that fails drains its node, so this
# one always exits 0; what it could not remove in time goes with the next job.

PATH=/usr/sbin:/usr/bin:/sbin:/bin${PATH:+:$PATH}
export PATH
run=/run/slurmwright
proc=/proc
shm=/dev/shm

remove() {
    timeout -k 5 60 rm -rf --one-file-system -- "$@"
}

# The folder of records is empty only when no other job of the user is on this node.
was_last() {
    exec 9>"$run/jobs/lock"
    flock -w 10 9 || return
    rm -f "$run/jobs/$uid/$job"
    rmdir "$run/jobs/$uid" 2>/dev/null || return
    [ ! -d "/run/enroot/user-$uid" ] || mv "/run/enroot/user-$uid" "/run/enroot/gone-$job"
    [ ! -d "/local/scratch/enroot/data/user-$uid" ] || mv "/local/scratch/enroot/data/user-$uid" "/local/scratch/enroot/data/gone-$job"
    [ ! -d "/local/scratch/enroot/temp/user-$uid" ] || mv "/local/scratch/enroot/temp/user-$uid" "/local/scratch/enroot/temp/gone-$job"
    [ ! -d "/local/scratch/enroot/pyxis/$uid" ] || mv "/local/scratch/enroot/pyxis/$uid" "/local/scratch/enroot/pyxis/gone-$job"
    true
}

clear_up() {
    uid=${SLURM_JOB_UID:-}
    job=${SLURM_JOB_ID:-}
    case $uid in '' | *[!0-9]*) return ;; esac
    case $job in '' | *[!0-9]*) return ;; esac
    [ -d "$run/jobs/$uid" ] || return
    (was_last) || return
    remove "/run/enroot/gone-"*
    remove "/local/scratch/enroot/data/gone-"*
    remove "/local/scratch/enroot/temp/gone-"*
    remove "/local/scratch/enroot/pyxis/gone-"*
    # Shared memory of a job that died stays and takes RAM. Not of system users, and not while the user is here.
    [ "$uid" -ge 1000 ] || return
    find "$proc" -mindepth 1 -maxdepth 1 -name '[0-9]*' -user "$uid" 2>/dev/null | grep -q . && return
    timeout -k 5 30 find "$shm" -xdev -mindepth 1 -user "$uid" -delete
}

(clear_up) >/dev/null 2>&1
exit 0
