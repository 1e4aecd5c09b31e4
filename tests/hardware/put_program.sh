#!/bin/sh
# Puts the program and the virtual camera into a root that make_root.sh made.
#
#     sudo tests/hardware/put_program.sh [ROOT [COMMIT]]        without COMMIT: the working tree as it is
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=${1:-/var/tmp/tk-roots/amd64}
tree=$(cd "$here/../.." && pwd)
source=/opt/tilekeeper/source
venv=/opt/tilekeeper/venv

rm -rf "${root:?}$source"
mkdir -p "$root$source" "$root/srv/frames"
if [ $# -ge 2 ]; then
    git -C "$tree" archive "$2"
else
    git -C "$tree" ls-files -z --cached --others --exclude-standard |
        tar -C "$tree" -c --null --ignore-failed-read -T -
fi | tar -x --no-same-owner -C "$root$source"
# What it needs, as pyproject.toml says; asked of PyPI only where that has changed.
wanted=$root/opt/tilekeeper/wanted.txt
python3 -c 'import sys, tomllib; print(*tomllib.load(sys.stdin.buffer)["project"]["dependencies"], sep="\n")' \
    <"$root$source/pyproject.toml" >"$wanted.new"
if ! cmp -s "$wanted.new" "$wanted"; then
    chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
        PIP_ROOT_USER_ACTION=ignore $venv/bin/pip install -q -r /opt/tilekeeper/wanted.txt.new
    mv "$wanted.new" "$wanted"
fi

# The program is run from its source, by a command of the name that the unit expects.
printf '%s\n' "$source" >"$(echo "$root$venv"/lib/python3.*/site-packages)/tilekeeper.pth"
cat >"$root$venv/bin/tilekeeper" <<END
#!$venv/bin/python
import sys
from device.cli import main
sys.exit(main())
END
chmod 755 "$root$venv/bin/tilekeeper"

# The virtual camera in place of a camera module.
packages=$(echo "$root$venv"/lib/python3.*/site-packages)
cp "$here/virtual_picamera2.py" "$packages/"
bridge='from virtual_picamera2 import VirtualPicamera2 as Picamera2  # there is no camera module here'
grep -qF "$bridge" "$packages/picamera2/__init__.py" || printf '%s\n' "$bridge" >>"$packages/picamera2/__init__.py"
cp "$here/virtual.yaml" "$root/usr/share/libcamera/pipeline/virtual/virtual.yaml"
cp "$here/dma_standin.c" "$root/opt/tilekeeper/"
chroot "$root" gcc -shared -fPIC -O2 -Wall -o /opt/tilekeeper/dma_standin.so /opt/tilekeeper/dma_standin.c -ldl
