#!/bin/bash
# A device whose driver is loaded after the service has started: whether the rules of the unit let the service open it. The
# kernel is user-mode Linux, which runs as a program, with real systemd and a simulated I2C bus. Half a minute.
#
#     sudo tests/hardware/late_device.sh [ROOT]        default: /var/tmp/tk-roots/amd64
#
# It needs what make_root.sh needs, overlayfs, and Debian's package user-mode-linux, which is downloaded, not installed.
# ROOT is not changed. vm.sh does the same with a camera and the whole service; this kernel has no drivers of cameras.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
systemd=$here/../../systemd
root=${1:-/var/tmp/tk-roots/amd64}

sh "$here/make_root.sh" "$root"
scratch=$(mktemp -d "$root.XXXXXX")
m=$scratch/root
mkdir "$scratch/upper" "$scratch/work" "$m" "$scratch/uml"
trap 'umount "$m" || true; rm -rf "$scratch"' EXIT
mount -t overlay overlay -o "lowerdir=$root,upperdir=$scratch/upper,workdir=$scratch/work" "$m"
(cd "$scratch/uml" && apt-get -q download user-mode-linux)
dpkg-deb -x "$scratch"/uml/*.deb "$scratch/uml"
mkdir -p "$m/lib/modules"
cp -r "$scratch"/uml/usr/lib/uml/modules/* "$m/lib/modules/"
chroot "$m" depmod "$(ls "$scratch/uml/usr/lib/uml/modules")"
install -m 644 "$systemd/tilekeeper.sysusers" "$m/usr/lib/sysusers.d/tilekeeper.conf"
install -D -m 644 "$systemd/tilekeeper.udev" "$m/etc/udev/rules.d/60-tilekeeper.rules"
chroot "$m" systemd-sysusers

# The unit as shipped, and the same without the modules that it asks for. In place of the program: whether a device opens.
units=$m/etc/systemd/system
for unit in shipped bare; do
    sed -e '/^ExecStart=/d' -e '/^WatchdogSec=/d' -e 's/^Type=.*/Type=exec/' "$systemd/tilekeeper.service" >"$units/$unit.service"
    sed -i "/^\[Service\]/a ExecStart=/bin/sh -c \"while sleep 1; do if (exec 3<>/dev/i2c-0) 2>/run/tilekeeper/$unit; then \
echo opened >/run/tilekeeper/$unit; fi; done\"" "$units/$unit.service"
done
sed -i '/=modprobe@/d' "$units/bare.service"

cat >"$m/srv/late_device.sh" <<'END_INSIDE'
#!/bin/sh
check() { # check WHAT COMMAND...
    what=$1
    shift
    if "$@"; then echo "ok   $what"; else echo "FAIL $what"; fi
}
is_known() { grep -q ' i2c$' /proc/devices; }
is_unknown() { ! is_known; }
is_active() { [ "$(systemctl is-active "$1")" = active ]; }
says() { # says UNIT TEXT: within ten seconds
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        grep -q "$2" "/run/tilekeeper/$1" && return 0
        sleep 1
    done
    cat "/run/tilekeeper/$1"
    false
}
echo
echo "== $(uname -r), $(systemctl --version | head -n 1)"
check "no driver of I2C is loaded when the services start" is_unknown
systemctl start bare
check "without the modules that the unit asks for, a service runs" is_active bare
check "and the kernel still knows no I2C" is_unknown
systemctl start shipped
check "with the unit as shipped, a service runs" is_active shipped
check "and the kernel knows I2C" is_known
modprobe i2c-dev
modprobe i2c-stub chip_addr=0x3c
udevadm settle
check "then the driver comes: the bus is there, for its group" test "$(stat -c %U:%G:%a /dev/i2c-0)" = root:i2c:660
check "the user of the service may open it" runuser -u tilekeeper -- sh -c 'exec 3<>/dev/i2c-0'
check "the service of the unit as shipped opens it" says shipped opened
check "the other one is refused for good" says bare 'Operation not permitted'
echo "== end"
systemctl poweroff --force
END_INSIDE
chmod +x "$m/srv/late_device.sh"
cat >"$units/late-device.service" <<'END_UNIT'
[Unit]
After=basic.target
[Service]
Type=oneshot
ExecStart=/srv/late_device.sh
StandardOutput=tty
StandardError=tty
TTYPath=/dev/tty0
TimeoutStartSec=infinity
END_UNIT
for unit in systemd-timesyncd systemd-journal-flush systemd-hwdb-update systemd-tmpfiles-setup; do # not needed here, and slow
    ln -sf /dev/null "$units/$unit.service"
done

timeout "${LIMIT_S:-900}" "$scratch/uml/usr/bin/linux.uml" root=/dev/root rootfstype=hostfs "rootflags=$m" rw mem=768M \
    init=/lib/systemd/systemd systemd.show_status=0 systemd.unit=late-device.service con=null con0=fd:0,fd:1 quiet \
    </dev/null 2>&1 | tr -d '\r' >"$root.late_device.log" || true
grep -E '^(ok  |FAIL|==)' "$root.late_device.log" || true
! grep -q '^FAIL' "$root.late_device.log" && grep -q '^== end' "$root.late_device.log"
