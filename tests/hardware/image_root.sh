#!/usr/bin/env bash
# Runs the steps of the card image (packaging/image/setup.sh) in a root of Debian, and looks at what is there before the first
# start of a card.
#
#     sudo tests/hardware/image_root.sh ROOT PACKAGE.deb
#
# ROOT is changed: make it with debootstrap (--include=python3,systemd,systemd-sysv,udev), or use an overlay. It needs
# Debian's archive. Nothing is started: no kernel of a Raspberry Pi, no radio.
# shellcheck disable=SC2317 # functions are called by check
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=${1:?the folder of a root}
package=${2:?the package}
failed=0

inside() {
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"
}
check() { # check WHAT COMMAND...
    local what=$1
    shift
    if "$@" >/tmp/image_root.log 2>&1; then echo "ok   $what"; else echo "FAIL $what"; tail -15 /tmp/image_root.log; failed=$((failed + 1)); fi
}
starts_with_the_plug() {
    local unit
    for unit in tilekeeper tilekeeper-first-start NetworkManager avahi-daemon; do
        [ "$(inside systemctl is-enabled "$unit.service")" = enabled ] || { echo "$unit is not enabled"; return 1; }
    done
}
has_no_secret() { # a password in the image would be that of every card
    ! grep -rlE '^(psk|password) *=' "$root/etc/NetworkManager/system-connections" "$root/etc/tilekeeper/hotspot.toml" 2>/dev/null
}
first_start() { inside bash -c "$(sed -n 's/^ExecStart=//p' "$root/usr/lib/systemd/system/tilekeeper-first-start.service")"; }
password() { sed -n 's/^password = //p' "$root/etc/tilekeeper/hotspot.toml"; }
reads_hotspot() {
    inside setpriv --reuid=tilekeeper --regid=tilekeeper --init-groups --reset-env /opt/tilekeeper/venv/bin/python -I \
        -c 'from device.system.wifi import read_hotspot; assert read_hotspot().password'
}
is_on_the_card() { # for a table without a screen
    grep -qx "password = $(password | tr -d '"')" "$root/boot/firmware/tilekeeper-wifi.txt"
}
is_private() { [ "$(stat -c %a "$root$1")" = 600 ]; }
get_other_password() {
    local first
    first=$(password)
    cp "$here/../../packaging/image/tilekeeper-wifi.txt" "$root/boot/firmware/"
    first_start
    [ -n "$first" ] && [ "$(password)" != "$first" ]
}

printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"
mkdir -p "$root/srv/image"
cp "$here"/../../packaging/image/{setup.sh,tilekeeper-wifi.txt} "$root/srv/image/"
cp "$package" "$root/srv/image/tilekeeper.deb"
check "the steps of the image run" inside bash /srv/image/setup.sh /srv/image/tilekeeper.deb
rm -rf "$root/srv/image" "$root/usr/sbin/policy-rc.d"
check "table, Wi-Fi and name start with the plug" starts_with_the_plug
check "systemd understands the unit of the first start" inside systemd-analyze verify tilekeeper-first-start.service
check "the machine is tilekeeper" grep -qx tilekeeper "$root/etc/hostname"
check "the image has no password" has_no_secret
check "the program's libraries, networks and word list are in order" inside /usr/bin/tilekeeper doctor --program
check "the first start makes the Wi-Fi of the card" first_start
check "the table reads its name and password" reads_hotspot
check "a computer can read the password on the card" is_on_the_card
check "the connection is for root alone" is_private /etc/NetworkManager/system-connections/tilekeeper-hotspot.nmconnection
check "another card gets another password" get_other_password
echo "     $(du -smx "$root" | cut -f1) MB"
echo "$failed failed"
exit "$((failed > 0))"
