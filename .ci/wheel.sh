#!/usr/bin/env bash
# Builds the wheel, installs it alone in a fresh virtual environment and renders a cluster with it from a
# folder outside of the checkout, so that a file the wheel forgot fails here and not at a user's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
.venv/bin/python -m build --wheel --outdir "$work/dist" .
.venv/bin/python -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet "$(echo "$work"/dist/*.whl)[ansible]"

cd "$work"
unset PYTHONPATH
venv/bin/slurmwright init pod1 --name pod1 --type dgx-h100 --hosts 'gpu[001-064]' --release 24.11
venv/bin/slurmwright render -i pod1 -o out
grep -q '"slurmwright/bundle/1"' out/bundle.json
config=$(venv/bin/python -c 'from slurmwright.core.resources import share; print(share("ansible.cfg"))')
venv/bin/slurmwright render -i pod1 >/dev/null
export ANSIBLE_CONFIG=$config
venv/bin/ansible-inventory -i pod1/cluster.yaml --graph slurm_controller | grep -q ctl1
venv/bin/ansible-playbook -i pod1/cluster.yaml --syntax-check "${config%.cfg}/site.yml" >/dev/null
echo "the wheel renders: $(find out -type f | wc -l) files"
