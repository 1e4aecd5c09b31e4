#!/bin/bash
# Boots a root's systemd in namespaces of its own, on the kernel of this machine, runs a command there, and switches off.
#
#     sudo tests/hardware/container_boot.sh ROOT SCRATCH COMMAND...
#
# COMMAND runs as root when the system is up; what it says is shown, and kept in
# SCRATCH/upper/result. ROOT is not changed: files go to the overlay SCRATCH/upper, which may be filled before. The
# network is one of its own. Left out are udev, which would name this machine's devices anew, and binfmt_misc, whose entries,
# this machine's emulators for arm64, it would remove when it goes down; there are no pins.
# It needs cgroup2, overlayfs and unshare.
set -euo pipefail
root=$1 scratch=$2
shift 2

if [ "${IN_CONTAINER:-}" != yes ]; then
    mkdir -p "$scratch/upper" "$scratch/work" "$scratch/root"
    group=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)/tilekeeper-container
    mkdir -p "$group"
    trap 'find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true' EXIT
    export IN_CONTAINER=yes group
    # shellcheck disable=SC2016  # for the inner shell
    timeout --kill-after=10 "${CONTAINER_LIMIT_S:-900}" bash -c '
        echo $$ >"$group/cgroup.procs"
        exec setsid unshare --mount --pid --ipc --uts --net --cgroup --fork --kill-child bash "$@"
    ' - "${BASH_SOURCE[0]}" "$root" "$scratch" "$@" </dev/null || true # a machine that goes down has no exit status
    cat "$scratch/upper/result"
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
    systemd-udevd-kernel.socket proc-sys-fs-binfmt_misc.automount systemd-sysctl.service systemd-modules-load.service tilekeeper-vm.service; do
    rm -f "$units/default.target.wants/$unit"
    ln -sf /dev/null "$units/$unit"
done
printf -v command '"%s" ' "$@"
cat >"$units/tilekeeper-container.service" <<END
[Unit]
After=multi-user.target dbus.socket
[Service]
Type=oneshot
Environment=PYTHONUNBUFFERED=1 LC_ALL=C.UTF-8
ExecStart=-$command
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
