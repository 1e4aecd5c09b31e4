#!/bin/sh
# Makes a Debian trixie root in which the real picamera2, libcamera, lgpio, systemd and a kernel with gpio-sim and vivid
# are installed beside Tilekeeper's own Python packages: for picamera2_root.sh (chroot) and vm.sh (virtual machine).
#
#     sudo tests/hardware/make_root.sh [ROOT]        default: /var/tmp/tk-roots/amd64
#
# It needs debootstrap, Debian's archive and PyPI; about 4 GB and ten minutes. What is done already is not done again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=${1:-/var/tmp/tk-roots/amd64}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
certificates=/etc/ssl/certs/ca-certificates.crt

inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive PIP_CERT=$certificates PIP_ROOT_USER_ACTION=ignore "$@"; }

once() { # once STEP: true, and the step is announced, where it was not done yet
    [ ! -e "$root/.done-$1" ] && echo "== $1" && date +%H:%M:%S
}
mark() { touch "$root/.done-$1"; }

mkdir -p "$root"
if once base; then
    debootstrap --variant=minbase --include=ca-certificates trixie "$root" "$mirror"
    printf 'deb %s trixie main\ndeb %s trixie-backports main\n' "$mirror" "$mirror" >"$root/etc/apt/sources.list"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fast"
    mark base
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$certificates" "$root$certificates"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT

if once packages; then
    # Only the drivers of the virtual disk: the start of a small initramfs takes seconds less without hardware support.
    mkdir -p "$root/etc/initramfs-tools"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"
    inside apt-get -q update
    inside apt-get -qy install --no-install-recommends -t trixie-backports \
        python3-libcamera libcamera-ipa python3-venv python3-dev gcc libc6-dev libcap-dev swig
    inside apt-get -qy install --no-install-recommends systemd systemd-sysv dbus polkitd libnss-systemd udev kmod \
        v4l-utils initramfs-tools zstd curl
    sed -i 's/^MODULES=.*/MODULES=list/' "$root/etc/initramfs-tools/initramfs.conf"
    printf 'virtio_pci\nvirtio_blk\next4\n' >"$root/etc/initramfs-tools/modules"
    kernel=$(inside apt-cache search --names-only '^linux-image-7\..*deb13-amd64$' | cut -d' ' -f1 | sort -V | tail -1)
    inside apt-get -qy install --no-install-recommends -t trixie-backports "$kernel"
    inside apt-get clean
    mark packages
fi

if once python; then
    venv=/opt/tilekeeper/venv
    inside python3 -m venv --system-site-packages $venv
    # PyPI's kms and pykms are other things; picamera2 imports the bindings for its DRM preview only.
    cp "$here/pykms.py" "$root"$venv/lib/python3.*/site-packages/
    # What the program itself needs is installed by put_program.sh, as pyproject.toml says.
    inside $venv/bin/pip install -q 'picamera2==0.3.38' 'gpiozero>=2.0.1' pytest pytest-xdist hypothesis
    # PYPI=1 links lgpio's C library in; without it the build looks for one in the system.
    inside PYPI=1 $venv/bin/pip install -q 'lgpio>=0.2.2'
    mark python
fi
inside /opt/tilekeeper/venv/bin/pip list --format=freeze | grep -iE '^(picamera2|gpiozero|lgpio)'
# shellcheck disable=SC2016  # dpkg-query's own fields
inside dpkg-query -W -f '${Package} ${Version}\n' python3-libcamera systemd polkitd
ls "$root"/boot/vmlinuz-*
