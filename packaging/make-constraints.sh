#!/usr/bin/env bash
# Writes the versions that installer, package, image and container install (constraints-3.11.txt, constraints-3.13.txt), and
# the lowest ones that pyproject.toml allows (constraints-lowest.txt), with which the tests must pass, too.
#
#     packaging/make-constraints.sh        needs Python 3 with venv, and the registry
#
# All have wheels for arm64. bookworm has Python 3.11 and a picamera2 that is compiled for numpy 1, trixie has 3.13.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check uv

resolve() { # resolve NAME PYTHON OPTION...
    local name=$1 python=$2
    shift 2
    "$work/venv/bin/uv" pip compile -q --no-cache --only-binary :all: --python-version "$python" \
        --python-platform aarch64-manylinux_2_36 --no-annotate --no-header --extra panel "$@" \
        --output-file "$work/$name" "$here/../pyproject.toml"
    { echo "# Written by packaging/make-constraints.sh."; cat "$work/$name"; } >"$here/$name"
}

echo 'numpy<2' >"$work/bookworm"
resolve constraints-3.11.txt 3.11 --constraints "$work/bookworm"
resolve constraints-3.13.txt 3.13
resolve constraints-lowest.txt 3.11 --resolution lowest-direct
