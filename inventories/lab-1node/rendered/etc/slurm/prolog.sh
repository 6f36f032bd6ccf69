#!/bin/sh
# Rendered by slurmwright for lab. Changes belong in cluster.yaml: this file is written anew.
#
# Prolog, run by root on each node of a job before its first process: makes the folders that the job finds here.
# A prolog that fails drains its node, so this one always exits 0; whoever needs a missing folder says so.

PATH=/usr/sbin:/usr/bin:/sbin:/bin${PATH:+:$PATH}
export PATH
run=/run/slurmwright
umask 022

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
}

(make_folders)
exit 0
