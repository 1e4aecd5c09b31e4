#!/bin/bash
# The name of the machine on a card that Raspberry Pi Imager 2 has customised: cloud-init of Debian trixie runs as at each
# start of the machine, with the files that Imager writes. Half a minute, and half a minute more the first time.
#
#     sudo tests/hardware/cloud_init.sh [ROOT]        default: /var/tmp/tk-roots/cloud
#
# It needs debootstrap, Debian's archive, overlayfs and unshare. ROOT is not changed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
systemd=$here/../../systemd
root=${1:-/var/tmp/tk-roots/cloud}
failed=0

if [ ! -e "$root/.done-base" ]; then
    debootstrap --variant=minbase --include=cloud-init,dbus trixie "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
    touch "$root/.done-base"
fi
chroot "$root" cloud-init --version

m=''
remove_card() {
    [ -z "$m" ] || umount "$m"
    [ -z "$m" ] || rm -rf "${m%/root}"
    m=''
}
trap remove_card EXIT

make_card() { # as Raspberry Pi OS writes it
    remove_card
    local scratch
    scratch=$(mktemp -d "$root.XXXXXX")
    mkdir "$scratch/upper" "$scratch/work" "$scratch/root"
    mount -t overlay overlay -o "lowerdir=$root,upperdir=$scratch/upper,workdir=$scratch/work" "$scratch/root"
    m=$scratch/root
    mkdir -p "$m/boot/firmware"
    printf '%s\n' 'datasource_list: [ NoCloud, None ]' datasource: '  NoCloud:' '    seedfrom: file:///boot/firmware' \
        >"$m/etc/cloud/cloud.cfg.d/99_raspberry-pi.cfg"
    printf 'dsmode: local\ninstance_id: rpios-image\n' >"$m/boot/firmware/meta-data"
    printf '#cloud-config\n#hostname: raspberrypi\n' >"$m/boot/firmware/user-data"
    : >"$m/boot/firmware/network-config"
    echo raspberrypi >"$m/etc/hostname"
    printf '127.0.0.1\tlocalhost\n127.0.1.1\traspberrypi\n' >"$m/etc/hosts"
}

customise_card() { # customise_card NAME: as Imager 2 does, before the first start
    echo 'instance-id: rpi-imager-1770411050503' >"$m/boot/firmware/meta-data"
    printf '%s\n' '#cloud-config' 'manage_resolv_conf: false' "hostname: $1" 'manage_etc_hosts: true' >"$m/boot/firmware/user-data"
    start_card
}

start_card() {
    # shellcheck disable=SC2016  # for the inner shell
    unshare --mount --uts --ipc --net --pid --fork --kill-child bash -euc '
        m=$1
        hostname "$(cat "$m/etc/hostname")"
        mount -t proc proc "$m/proc"
        for place in run tmp dev; do mount -t tmpfs tmpfs "$m/$place"; done
        for node in null:3 zero:5 random:8 urandom:9; do mknod -m 666 "$m/dev/${node%:*}" c 1 "${node#*:}"; done
        mkdir "$m/run/cloud-init"
        echo "datasource_list: [ NoCloud, None ]" >"$m/run/cloud-init/cloud.cfg" # as ds-identify does
        for stage in "init --local" init; do
            # shellcheck disable=SC2086  # words
            chroot "$m" /usr/bin/env -i PATH=/usr/sbin:/usr/bin LC_ALL=C.UTF-8 cloud-init $stage >/dev/null
        done
        hostname >"$m/running-name"' - "$m"
}

check_name() { # check_name WHAT NAME: file, kernel and /etc/hosts, at once and after another start
    local found
    found="$(cat "$m/etc/hostname") $(cat "$m/running-name") $(sed -n 's/^127\.0\.1\.1[[:space:]]*\([^[:space:]]*\).*/\1/p' "$m/etc/hosts")"
    if [ "$found" = "$2 $2 $2" ]; then
        echo "ok   $1: $2"
    else
        echo "FAIL $1: not $2, but (file, kernel, hosts) $found"
        failed=1
    fi
}

name_as_old_version() { # which told cloud-init nothing
    mkdir -p "$m/opt/tilekeeper"
    ln -s versions/0.0.9-1 "$m/opt/tilekeeper/venv"
    cp "$m/etc/hostname" "$m/opt/tilekeeper/former-hostname"
    echo "$1" >"$m/etc/hostname"
    sed -i "s/^127\.0\.1\.1.*/127.0.1.1\t$1/" "$m/etc/hosts"
}

install_name() { # the steps of install.sh that name the machine, with its options
    cp -r "$systemd" "$m/root/"
    mkdir -p "$m/opt/tilekeeper"
    cp "$systemd/host-name.sh" "$m/opt/tilekeeper/"
    sed -i '/^main "\$@"$/d' "$m/root/systemd/install.sh"
    # shellcheck disable=SC2016  # for the inner shell
    chroot "$m" /bin/bash -c 'source /root/systemd/install.sh; read_options "$@"; ask_name; name_machine || true' - --yes "$@"
}

make_card
customise_card raspberrypi
check_name "the first start" raspberrypi
name_as_old_version tilekeeper
start_card
check_name "cloud-init takes back a name that it was not told" raspberrypi

echo "== an upgrade from there"
install_name
start_card
check_name "the name lasts after a start" tilekeeper
start_card
check_name "and after another" tilekeeper

echo "== an upgrade of an old installation before its first restart"
make_card
customise_card raspberrypi
name_as_old_version kitchen
install_name
start_card
check_name "the name lasts after a start" kitchen

echo "== an installation"
make_card
customise_card raspberrypi
install_name --name kitchen
for time in first second; do
    start_card
    check_name "after its $time start" kitchen
done
TILEKEEPER_ROOT=$m "$systemd/host-name.sh" restore
for time in first second; do
    start_card
    check_name "uninstalled, after its $time start" raspberrypi
done

echo "== a card image"
for name in '' kitchen; do
    make_card
    TILEKEEPER_ROOT=$m "$systemd/host-name.sh" suggest tilekeeper # by setup.sh, in the image
    [ -z "$name" ] || customise_card "$name"
    start_card
    check_name "with ${name:-no name} entered in Imager" "${name:-tilekeeper}"
done
exit $failed
