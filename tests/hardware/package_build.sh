#!/usr/bin/env bash
# Builds the Debian package by the steps of the release workflow (its job "package"), in a fresh Debian, and lets lintian check it.
#
#     sudo tests/hardware/package_build.sh RELEASE ARCHITECTURE FOLDER [COMMIT [VERSION]]
#
# RELEASE is bookworm or trixie, ARCHITECTURE amd64 or arm64, which is emulated on another processor (qemu-user-static).
# The package of COMMIT (default: HEAD) is put into FOLDER. It needs debootstrap, lintian, overlayfs, Debian's archive and PyPI. The
# root without anything else stays in $ROOTS (default: /var/tmp/tk-roots) as RELEASE-ARCHITECTURE; package.sh needs one, too.
# COMPRESSION=gzip saves minutes, and WHEELS may name a folder that has all wheels, so that PyPI is not asked.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
release=${1:?bookworm or trixie} architecture=${2:?amd64 or arm64} folder=$(realpath -m "${3:?the folder for the package}")
commit=${4:-HEAD} version=${5:-}
roots=${ROOTS:-/var/tmp/tk-roots}
root=$roots/$release-$architecture
# shellcheck source=/dev/null
source "$here/emulation.sh"

find_steps() { # the commands of the job
    awk '/^  package:/ {inside = 1; next} /^  [a-z]+:/ {inside = 0} inside && sub(/^ +- run: /, "")' \
        "$tree/.github/workflows/release.yml"
}
inside() {
    chroot "$m" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive PIP_CERT=/srv/ca.crt PIP_DEFAULT_TIMEOUT=180 QEMU_CPU="$EMULATED_CORE" \
        COMPRESSION="${COMPRESSION:-xz}" VERSION="$version" "$@"
}
# shellcheck disable=SC2317,SC2329  # called by trap
leave() {
    umount "$m/srv/wheels" "$m/proc" "$m" 2>/dev/null || true
    rm -rf "$scratch"
}

[ "$architecture" = "$(dpkg --print-architecture)" ] || register_emulator
[ -e "$root/usr/bin/python3" ] || debootstrap --arch="$architecture" --variant=minbase \
    --include=python3,libgomp1,systemd,systemd-sysv,udev,ca-certificates "$release" "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
scratch=$(mktemp -d "$root.XXXXXX")
m=$scratch/root
mkdir -p "$scratch/upper" "$scratch/work" "$m" "$folder"
trap leave EXIT
mount -t overlay overlay -o "lowerdir=$root,upperdir=$scratch/upper,workdir=$scratch/work" "$m"
mount -t proc proc "$m/proc"
cp /etc/resolv.conf "$m/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$m/srv/ca.crt" # the way to PyPI may have an authority of its own
echo force-unsafe-io >"$m/etc/dpkg/dpkg.cfg.d/fast"
wheels=()
if [ -n "${WHEELS:-}" ]; then
    mkdir "$m/srv/wheels"
    mount --bind "$WHEELS" "$m/srv/wheels"
    wheels=(PIP_FIND_LINKS=/srv/wheels PIP_NO_INDEX=1)
fi
mkdir "$m/srv/source"
git -C "$tree" archive "$commit" | tar -x --no-same-owner -C "$m/srv/source"

find_steps | while read -r step; do
    echo "==== $(date +%H:%M:%S) $step"
    inside "${wheels[@]}" bash -euc "cd /srv/source && $step" </dev/null
done
package=$(echo "$m"/srv/source/dist/*.deb)
lintian --fail-on error "$package"
cp "$package" "$folder/"
echo "$folder/${package##*/}"
