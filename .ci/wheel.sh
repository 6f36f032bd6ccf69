#!/usr/bin/env bash
# Builds the wheel, installs it alone in a fresh virtual environment and renders a cluster with it from a
# folder outside of the checkout, so that a file the wheel forgot fails here and not at a user's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
.venv/bin/python -m build --wheel --outdir "$work/dist" .
.venv/bin/python -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet "$work"/dist/*.whl

cd "$work"
unset PYTHONPATH
venv/bin/slurmwright init pod1 --name pod1 --type dgx-h100 --hosts 'gpu[001-064]' --release 24.11
venv/bin/slurmwright render -i pod1 -o out
grep -q '"slurmwright/bundle/1"' out/bundle.json
echo "the wheel renders: $(find out -type f | wc -l) files"
