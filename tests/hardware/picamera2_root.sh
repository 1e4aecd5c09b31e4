#!/bin/sh
# Runs the camera on the real picamera2 and libcamera, in a Debian root, on libcamera's virtual camera.
#
#     sudo tests/hardware/picamera2_root.sh [ROOT [COMMIT]]
#
# Needs no Raspberry Pi and no camera; see README.md for what that shows and what it cannot show.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=${1:-/var/tmp/tk-roots/amd64}

sh "$here/make_root.sh" "$root"
sh "$here/put_program.sh" "$@"
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 LIBCAMERA_LOG_LEVELS='*:ERROR' \
    LD_PRELOAD=/opt/tilekeeper/dma_standin.so PYTHONPATH=/opt/tilekeeper/source \
    /opt/tilekeeper/venv/bin/python /opt/tilekeeper/source/tests/hardware/picamera2_board.py
