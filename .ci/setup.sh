#!/usr/bin/env bash
# Turns a fresh Debian 12/13 or Ubuntu 22.04/24.04 into one that can work on this checkout; run by make.
#
#   .ci/setup.sh venv DIR     a virtual environment with the package and the developer's tools
#   .ci/setup.sh rehearsal    the programs and keys that building and entering a Slurm root needs
#   .ci/setup.sh guests       what virtual machines need on top of that
#   .ci/setup.sh tests        what only tests need: a C compiler, Slurm's headers, and PyTorch for the machine's own
#                             Python where the distribution has it (tests with it are skipped elsewhere)
#
# Installs what is missing and nothing else, and says so first.
set -euo pipefail

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 2; }
have() { PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1; }

install_packages() {
    local sudo=()
    have apt-get || die "no apt-get here; install by hand what these packages bring: $*"
    if [ "$(id -u)" -ne 0 ]; then
        have sudo || die "not root and no sudo; as root run: apt-get update && apt-get install $*"
        sudo=(sudo)
    fi
    say "installing with apt-get: $*"
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# A Python that is new enough and can make a virtual environment; prints its name.
find_python() {
    local candidate
    for candidate in "${PYTHON:-python3}" /usr/bin/python3; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

make_venv() {
    local folder=$1 python
    python=$(find_python) || {
        install_packages python3 python3-venv
        python=$(find_python) || die "Python 3.10 or later is needed; name one, for example: make PYTHON=python3.12"
    }
    say "making $folder with $("$python" --version)"
    "$python" -m venv --clear "$folder"
    "$folder/bin/python" -m pip install --quiet --editable '.[dev]'
    touch "$folder/.made"
}

prepare_rehearsal() {
    local missing=()
    have mmdebstrap || missing+=(mmdebstrap)
    have ip || missing+=(iproute2)
    have sshd || missing+=(openssh-server)
    have pgrep || missing+=(procps)
    have mount || missing+=(mount)
    { have unshare && have nsenter; } || missing+=(util-linux)
    compgen -G '/usr/share/keyrings/debian-archive-keyring.*' >/dev/null || missing+=(debian-archive-keyring)
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

prepare_guests() {
    local missing=()
    have qemu-system-x86_64 || missing+=(qemu-system-x86)
    have qemu-img || missing+=(qemu-utils)
    have mke2fs || missing+=(e2fsprogs)
    have ssh || missing+=(openssh-client)
    have setpriv || missing+=(util-linux)
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

prepare_tests() {
    local missing=()
    have cc || missing+=(gcc libc6-dev)
    [ -e /usr/include/slurm/spank.h ] || missing+=(libslurm-dev)
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
    /usr/bin/python3 -c 'import torch' 2>/dev/null && return
    (install_packages python3-torch) || say "python3-torch cannot be had here: tests that train with it are skipped"
}

case "${1:-}" in
    venv) make_venv "${2:?folder}" ;;
    rehearsal) prepare_rehearsal ;;
    guests) prepare_rehearsal && prepare_guests ;;
    tests) prepare_tests ;;
    *) die "usage: .ci/setup.sh venv DIR | rehearsal | guests | tests" ;;
esac
