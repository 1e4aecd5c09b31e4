#!/usr/bin/env bash
# Boots the root of the card image in a virtual machine with simulated radios, as on a card's first start, and walks through the
# first set-up in a browser on this machine: from the table's own Wi-Fi to the first score, without a shell.
#
#     sudo tests/hardware/image_boot.sh ROOT        after image_root.sh ROOT PACKAGE.deb
#
# It needs qemu-system-x86_64 (ACCELERATION=kvm where that works), Debian's archive, chromium, and a Python with the packages
# of pyproject.toml's "dev" (PYTHON, default .venv/bin/python). ROOT is changed. What the machine says is in ROOT.log.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=${1:?the folder of the root}
python=${PYTHON:-$here/../../.venv/bin/python}
image=$root.img
log=$root.log
acceleration=${ACCELERATION:-tcg,thread=multi}

inside() {
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}

# A kernel with simulated radios, and the programs of a phone and of a home's router.
if [ ! -e "$root/boot/initrd.img" ] && ! find "$root/boot" -name 'initrd.img-*' | grep -q .; then
    mkdir -p "$root/etc/initramfs-tools"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"
    mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
    trap 'umount "$root/proc"' EXIT
    inside apt-get -q update
    inside apt-get -qy install --no-install-recommends initramfs-tools zstd
    sed -i 's/^MODULES=.*/MODULES=list/' "$root/etc/initramfs-tools/initramfs.conf"
    printf 'virtio_pci\nvirtio_blk\next4\n' >"$root/etc/initramfs-tools/modules"
    inside apt-get -qy install --no-install-recommends linux-image-amd64 hostapd wpasupplicant dhcpcd-base socat iproute2
    inside systemctl disable hostapd.service wpa_supplicant.service 2>/dev/null || true
    umount "$root/proc"
    trap - EXIT
    rm "$root/usr/sbin/policy-rc.d"
fi

# As on a card that was just written.
rm -f "$root/etc/tilekeeper/hotspot.toml" "$root/etc/NetworkManager/system-connections/"* "$root/etc/issue.d/tilekeeper.issue"
rm -rf "${root:?}"/var/lib/tilekeeper/* "${root:?}"/var/lib/private/tilekeeper
cp "$here/../../packaging/image/tilekeeper-wifi.txt" "$root/boot/firmware/"

# The air around the table: see image_radios.sh.
install -m 755 "$here/image_radios.sh" "$here/image_reach.sh" "$root/srv/"
printf '[keyfile]\nunmanaged-devices=interface-name:wlan1;interface-name:wlan2;interface-name:eth0\n' \
    >"$root/etc/NetworkManager/conf.d/image-boot.conf"
cat >"$root/etc/systemd/system/image-radios.service" <<'END'
[Unit]
Description=Simulated radios, a phone and a home's Wi-Fi
DefaultDependencies=no
After=local-fs.target systemd-modules-load.service
Before=NetworkManager.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/srv/image_radios.sh air
[Install]
WantedBy=multi-user.target
END
cat >"$root/etc/systemd/system/image-phone.service" <<'END'
[Unit]
Description=The phone of a player
After=tilekeeper-first-start.service image-radios.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/srv/image_radios.sh phone
[Install]
WantedBy=multi-user.target
END
inside systemctl enable -q image-radios.service image-phone.service

rm -f "$image"
mkfs.ext4 -q -F -d "$root" -E root_owner=0:0 "$image" 4G
trap 'kill %1 2>/dev/null || true; wait; rm -f "$image"' EXIT
kernel=$(find "$root/boot" -name 'vmlinuz-*' | sort -V | tail -1)
# The table's page is at port 18080 of this machine over a cable, and at 18081 as the phone reaches it over its Wi-Fi.
qemu-system-x86_64 -accel "$acceleration" -cpu max -smp 2 -m 2048 -nographic -no-reboot \
    -nic user,model=virtio-net-pci,hostfwd=tcp:127.0.0.1:18080-:8080,hostfwd=tcp:127.0.0.1:18081-:8081 \
    -kernel "$kernel" -initrd "$root/boot/initrd.img-${kernel##*vmlinuz-}" \
    -append "root=/dev/vda rw console=ttyS0 panic=-1 mitigations=off no_timer_check nosoftlockup net.ifnames=0 systemd.journald.forward_to_console=1 systemd.show_status=0" \
    -drive "file=$image,format=raw,if=virtio,cache=unsafe" </dev/null >"$log" 2>&1 &
echo "     $acceleration"
PYTHONPATH=$here/../.. "$python" -m tests.hardware.image_setup 18080 18081
