#!/bin/sh
# Boots a virtual machine with Debian's kernel and real systemd, and tries there what no container can show: the panel on
# gpio-sim with bounce, a USB camera that is unplugged, the hardened service with camera and pins, its watchdog.
#
#     sudo tests/hardware/vm.sh [ROOT [COMMIT]]
#
# It needs qemu-system-x86_64 and what make_root.sh needs; no KVM. Seven minutes where it has a core to itself, and half an
# hour on a starved machine, where presses are stretched and the watchdog acts too early.
# The machine has no network but its own. Everything it says is in ROOT.log. VM_PARTS chooses, as in VM_PARTS=panel:
# late (a camera that comes after the start of the service), panel (bounce, lights), usb (the camera unplugged), service
# (camera, watchdog, power button).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=${1:-/var/tmp/tk-roots/amd64}
image=$root.img
log=$root.log
limit=${VM_LIMIT_S:-2400}
parts=${VM_PARTS:-late,panel,usb,service}

sh "$here/make_root.sh" "$root"
sh "$here/put_program.sh" "$@"

sh "$here/put_service.sh" "$root"

# What the emulated machine lacks of a Raspberry Pi: its name in cpuinfo, a heap by the name that its kernel gives it.
mkdir -p "$root/etc/systemd/system/tilekeeper.service.d"
cp /proc/cpuinfo "$root/srv/cpuinfo"
printf 'Revision\t: d04170\n' >>"$root/srv/cpuinfo"
cat >"$root/etc/systemd/system/tilekeeper.service.d/vm.conf" <<'END'
[Service]
BindReadOnlyPaths=/srv/cpuinfo:/proc/cpuinfo
END
echo 'SUBSYSTEM=="dma_heap", KERNEL=="system", SYMLINK+="dma_heap/vidbuf_cached"' >"$root/etc/udev/rules.d/61-vm.rules"
cat >"$root/etc/systemd/system/tilekeeper-vm.service" <<'END'
[Unit]
After=multi-user.target dbus.socket
[Service]
Type=oneshot
ExecStart=/opt/tilekeeper/source/tests/hardware/vm_inside.sh
Environment=PYTHONPATH=/opt/tilekeeper/source PYTHONUNBUFFERED=1
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
TimeoutStartSec=infinity
TimeoutStopSec=20
END
mkdir -p "$root/etc/systemd/system/default.target.wants"
ln -sf ../tilekeeper-vm.service "$root/etc/systemd/system/default.target.wants/tilekeeper-vm.service"
ln -sf /dev/null "$root/etc/systemd/system/serial-getty@ttyS0.service"

rm -f "$image"
mkfs.ext4 -q -F -d "$root" -E root_owner=0:0 "$image" 4G
trap 'rm -f "$image"' EXIT
trap 'exit 1' INT TERM
# no_timer_check: on a busy host the emulated timer may be too late for the check of the kernel.
kernel=$(find "$root/boot" -name 'vmlinuz-*' | sort -V | tail -1)
status=0
timeout "$limit" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 2048 -nographic -no-reboot -nic none \
    -kernel "$kernel" -initrd "$root/boot/initrd.img-${kernel##*vmlinuz-}" \
    -append "root=/dev/vda rw console=ttyS0 panic=-1 quiet mitigations=off no_timer_check nosoftlockup systemd.show_status=0 tilekeeper.parts=$parts" \
    -drive "file=$image,format=raw,if=virtio,cache=unsafe" </dev/null >"$log" 2>&1 || status=$?
tr -d '\r' <"$log" | grep -E '^(ok  |FAIL|==|     |[0-9]+ failed|all right)' || true
if [ $status -ne 0 ]; then
    echo "the machine ended with status $status (124: after the limit of $limit s); see $log"
    exit 1
fi
# With the part "service" the power button ends it, and the test has no time left to say more.
[ "${parts%service}" = "$parts" ] && last='== end' || last='now the power button'
! grep -q '^FAIL' "$log" && grep -q "$last" "$log"
