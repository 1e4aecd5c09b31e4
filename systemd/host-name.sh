#!/usr/bin/env bash
# Gives the machine a name that lasts, or its former name back.
#
#     sudo /opt/tilekeeper/host-name.sh set NAME
#     sudo /opt/tilekeeper/host-name.sh suggest NAME    for a card image: a name entered in Raspberry Pi Imager counts
#     sudo /opt/tilekeeper/host-name.sh restore
#     /opt/tilekeeper/host-name.sh is-lost       status 0: it was named, and cloud-init has set the former name again
#
# On cards that Raspberry Pi Imager 2 has customised, cloud-init sets the host name again at each start, and writes
# /etc/hosts. It reads both from the file user-data, which Imager wrote.
#
# TILEKEEPER_ROOT names another root folder than /.
set -euo pipefail

ROOT=${TILEKEEPER_ROOT:-}
FORMER=$ROOT/opt/tilekeeper/former-hostname
CLOUD_SETTINGS=$ROOT/etc/cloud/cloud.cfg.d/99-tilekeeper.cfg

is_running_here() { [ -z "$ROOT" ] && [ -d /run/systemd/system ]; } # false in a chroot

write_name() {
    if is_running_here; then hostnamectl set-hostname "$1"; else printf '%s\n' "$1" >"$ROOT/etc/hostname"; fi
    if grep -qs '^127\.0\.1\.1' "$ROOT/etc/hosts"; then
        sed -i "s/^127\.0\.1\.1.*/127.0.1.1\t$1/" "$ROOT/etc/hosts"
    else
        printf '127.0.1.1\t%s\n' "$1" >>"$ROOT/etc/hosts"
    fi
    # cloud-init sets the name from its copy of the last start before it reads user-data.
    local data
    for data in "$ROOT"/boot/firmware/user-data "$ROOT"/boot/user-data "$ROOT"/var/lib/cloud/instances/*/cloud-config.txt; do
        [ ! -e "$data" ] || sed -i "s/^hostname:.*/hostname: $1/" "$data"
    done
}

suggest_name() {
    mkdir -p "${FORMER%/*}"
    [ -e "$FORMER" ] || cp "$ROOT/etc/hostname" "$FORMER"
    write_name "$1"
}

set_name() {
    if [ -d "$ROOT/etc/cloud" ]; then
        mkdir -p "${CLOUD_SETTINGS%/*}"
        printf '# Written by Tilekeeper: the name of this machine is that of /etc/hostname.\npreserve_hostname: true\n' \
            >"$CLOUD_SETTINGS"
    fi
    suggest_name "$1"
}

restore_name() {
    [ -e "$FORMER" ] || return 0
    write_name "$(cat "$FORMER")"
    rm -f "$FORMER" "$CLOUD_SETTINGS"
}

is_lost() { # after an older version, which named the machine and did not tell cloud-init
    [ -d "$ROOT/etc/cloud" ] && [ ! -e "$CLOUD_SETTINGS" ] && cmp -s "$FORMER" "$ROOT/etc/hostname"
}

case ${1:-} in
    set) set_name "${2:?host-name.sh set needs a name}" ;;
    suggest) suggest_name "${2:?host-name.sh suggest needs a name}" ;;
    restore) restore_name ;;
    is-lost) is_lost ;;
    *) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
