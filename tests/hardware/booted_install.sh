#!/bin/bash
# install.sh where systemd runs: a table that was installed as the documents say starts with the plug; while a game is on
# it is upgraded, twice to a version that is no good, and uninstalled; then it is installed on the running machine. In a
# container on this machine's architecture; arm64_root.sh does the same on arm64, where no systemd can run.
#
#     sudo tests/hardware/booted_install.sh [ROOT [COMMIT]]
#
# It needs what container.sh needs, and the network while it prepares. ROOT is not changed beyond what container.sh does.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
root=${1:-/var/tmp/tk-roots/amd64}
commit=${2:-HEAD}

sh "$here/make_root.sh" "$root"
sh "$here/put_program.sh" "$root" "$commit"
sh "$here/put_service.sh" "$root" # the pictures before the camera are made here

scratch=$(mktemp -d "$root.XXXXXX")
m=$scratch/root
mkdir -p "$scratch/upper" "$scratch/work" "$m"
# shellcheck disable=SC2317,SC2329  # called by trap
leave() {
    mountpoint -q "$m/proc" && umount "$m/proc"
    mountpoint -q "$m" && umount "$m"
    rm -rf "$scratch"
}
trap leave EXIT
inside() {
    chroot "$m" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_ROOT_USER_ACTION=ignore "$@"
}
put() { # put FOLDER VERSION: the program, as that version
    mkdir -p "$m$1"
    git -C "$tree" archive "$commit" | tar -x --no-same-owner -C "$m$1"
    sed -i "s/^version = \".*\"/version = \"$2\"/" "$m$1/pyproject.toml"
}

mount -t overlay overlay -o "lowerdir=$root,upperdir=$scratch/upper,workdir=$scratch/work" "$m"
mount -t proc proc "$m/proc"
echo "== a machine without Tilekeeper"
find "$m/etc" "$m/usr/lib" "$m/var/lib" "$m/opt" -xdev -iname '*tilekeeper*' -prune -exec rm -rf {} +
sed -i '/^tilekeeper:/d' "$m/etc/passwd" "$m/etc/group" "$m/etc/shadow" "$m/etc/gshadow"
echo raspberrypi >"$m/etc/hostname"

echo "== install"
put /root/first 99.0.0
inside /root/first/systemd/install.sh --yes --hotspot
printf '[game]\nplayers = ["Anna", "Ben"]\n[camera]\nsource = "folder:/srv/frames"\n' >"$m/etc/tilekeeper/settings.toml"

echo "== what upgrades need: the container has no network"
put /root/newer 99.0.1
put /root/cut 99.0.2
truncate -s 1000 "$m/root/cut/vision/models/letters.onnx" # as a copy that was cut off
put /root/dying 99.0.3
sed -i '/^def run(/a\
    import sqlite3\
    with sqlite3.connect("/var/lib/tilekeeper/games.db") as store:\
        store.execute("PRAGMA user_version = 99")\
    raise RuntimeError("a version that makes the store its own and cannot run")' "$m/root/dying/device/cli/run.py"
echo '# another unit' >>"$m/root/dying/systemd/tilekeeper.service"
python3 -c 'import sys, tomllib; project = tomllib.load(sys.stdin.buffer)["project"]; print(*project["dependencies"], *project["optional-dependencies"]["panel"], sep="\n")' \
    <"$m/root/first/pyproject.toml" >"$m/root/wanted.txt"
inside python3 -m pip download -q -d /root/wheels -r /root/wanted.txt --constraint /root/first/packaging/constraints-3.13.txt \
    'setuptools>=77' 'babel>=2.12' wheel

umount "$m/proc" "$m"
"$here/container_boot.sh" "$root" "$scratch" /usr/bin/env PYTHONPATH=/root/first PYTHONDONTWRITEBYTECODE=1 PIP_NO_INDEX=1 \
    PIP_FIND_LINKS=/root/wheels python3 -m tests.hardware.booted_install
! grep -q '^FAIL' "$scratch/upper/result" && grep -q '^all right' "$scratch/upper/result"
