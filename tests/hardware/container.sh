#!/bin/bash
# Boots real systemd in namespaces of its own, on the kernel of this machine, and tries the hardened service there: with
# camera, store and page, its watchdog, the rule for power off. It has no pins; vm.sh has. A minute instead of ten.
#
#     sudo tests/hardware/container.sh [ROOT [COMMIT]]
#
# Nothing of this machine is changed: files go to an overlay that is thrown away, the network is one of its own, and
# udev, which would name this machine's devices anew, is left out. It needs cgroup2, overlayfs and unshare.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=${1:-/var/tmp/tk-roots/amd64}

if [ "${IN_CONTAINER:-}" != yes ]; then
    sh "$here/make_root.sh" "$root"
    sh "$here/put_program.sh" "$@"
    sh "$here/put_service.sh" "$root"
    scratch=$(mktemp -d "$root.XXXXXX")
    mkdir "$scratch/upper" "$scratch/work" "$scratch/root"
    cgroups=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
    group=$cgroups/tilekeeper-container
    mkdir -p "$group"
    # shellcheck disable=SC2317,SC2329  # called by trap
    leave() {
        find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
        rm -rf "$scratch"
    }
    trap leave EXIT
    export IN_CONTAINER=yes scratch group
    # shellcheck disable=SC2016  # for the inner shell
    timeout --kill-after=10 "${CONTAINER_LIMIT_S:-900}" bash -c '
        echo $$ >"$group/cgroup.procs"
        exec setsid unshare --mount --pid --ipc --uts --net --cgroup --fork --kill-child bash "$@"
    ' - "$here/container.sh" "$root" </dev/null || true # a machine that goes down has no exit status
    cat "$scratch/upper/result"
    ! grep -q "^FAIL" "$scratch/upper/result" && grep -q "^all right" "$scratch/upper/result"
    exit
fi

m=$scratch/root
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$root,upperdir=$scratch/upper,workdir=$scratch/work" "$m"
mount -t proc proc "$m/proc"
mount -t sysfs -o ro sysfs "$m/sys"
mount -t cgroup2 cgroup2 "$m/sys/fs/cgroup"
for place in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs "$m/$place"; done
chmod 1777 "$m/tmp"
for node in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "$m/dev/${node%:*}" c 1 "${node#*:}"; done
mkdir "$m/dev/pts" "$m/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$m/dev/pts"
mount -t tmpfs tmpfs "$m/dev/shm"
ln -s /proc/self/fd "$m/dev/fd"
mount --bind "$m/proc/sys" "$m/proc/sys"
mount -o remount,bind,ro "$m/proc/sys"
ip link set lo up

units=$m/etc/systemd/system
for unit in systemd-udevd.service systemd-udev-trigger.service systemd-udevd-control.socket \
    systemd-udevd-kernel.socket systemd-sysctl.service systemd-modules-load.service tilekeeper-vm.service; do
    rm -f "$units/default.target.wants/$unit"
    ln -sf /dev/null "$units/$unit"
done
# Here the kernel has no dma-heaps; the unit is otherwise as it is shipped.
rm -rf "$units/tilekeeper.service.d"
mkdir "$units/tilekeeper.service.d"
printf '[Service]\nEnvironment=LD_PRELOAD=/opt/tilekeeper/dma_standin.so\n' >"$units/tilekeeper.service.d/container.conf"
cat >"$units/tilekeeper-container.service" <<'END'
[Unit]
After=multi-user.target dbus.socket
[Service]
Type=oneshot
WorkingDirectory=/opt/tilekeeper/source
ExecStart=-/opt/tilekeeper/venv/bin/python -u -m tests.hardware.vm_table page
ExecStopPost=systemctl poweroff --no-block
StandardOutput=append:/result
StandardError=inherit
TimeoutStartSec=infinity
END
mkdir -p "$units/default.target.wants"
ln -sf ../tilekeeper-container.service "$units/default.target.wants/tilekeeper-container.service"

mount --bind "$m" "$m"
cd "$m"
mkdir -p old
pivot_root . old
exec env -i container=test PATH=/usr/sbin:/usr/bin chroot . /bin/sh -c \
    'umount -l /old; exec /lib/systemd/systemd --log-target=null --show-status=0 systemd.unit=default.target'
