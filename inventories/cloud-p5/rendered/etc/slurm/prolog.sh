#!/bin/sh
# Rendered by slurmwright for cloud. Changes belong in cluster.yaml: this file is written anew.
#
# Prolog, run by root on each node of a job before its first process: makes the folders that the job finds here.
# A prolog that fails drains its node, so this one always exits 0; whoever needs a missing folder says so.

PATH=/usr/sbin:/usr/bin:/sbin:/bin${PATH:+:$PATH}
export PATH
run=/run/slurmwright
umask 022

# A folder that only the job's user can enter. Its parent is root's, so nobody can put a link in its place.
own() {
    mkdir -p "$1" && chown "$uid" "$1" && chmod 0700 "$1"
}

make_folders() {
    uid=${SLURM_JOB_UID:-}
    job=${SLURM_JOB_ID:-}
    case $uid in '' | *[!0-9]*) return ;; esac
    case $job in '' | *[!0-9]*) return ;; esac
    mkdir -p "$run/jobs" || return
    # The epilog of the user's last job may be at work; it only moves things while it holds the lock.
    exec 9>"$run/jobs/lock"
    flock -w 10 9
    mkdir -p "$run/jobs/$uid" && : >"$run/jobs/$uid/$job"
    own "/run/enroot/user-$uid"
    own "/local/scratch/enroot/data/user-$uid"
    own "/local/scratch/enroot/temp/user-$uid"
    own "/local/scratch/enroot/cache/user-$uid"
}

(make_folders)
exit 0
