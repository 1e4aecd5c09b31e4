#!/bin/sh
# Puts the unit, its user, rules and settings into a root that put_program.sh filled, and a board before its camera.
#
#     sudo tests/hardware/put_service.sh [ROOT]
set -eu
root=${1:-/var/tmp/tk-roots/amd64}
systemd=$root/opt/tilekeeper/source/systemd
install -D -m 644 "$systemd/tilekeeper.service" "$root/etc/systemd/system/tilekeeper.service"
install -D -m 644 "$systemd/tilekeeper.sysusers" "$root/usr/lib/sysusers.d/tilekeeper.conf"
install -D -m 644 "$systemd/tilekeeper.udev" "$root/etc/udev/rules.d/60-tilekeeper.rules"
install -D -m 644 "$systemd/tilekeeper.polkit" "$root/etc/polkit-1/rules.d/60-tilekeeper.rules"
install -D -m 644 "$systemd/tilekeeper.journald" "$root/etc/systemd/journald.conf.d/tilekeeper.conf"
chroot "$root" systemd-sysusers
mkdir -p "$root/etc/tilekeeper"
printf '[game]\nplayers = ["Anna", "Ben"]\n[camera]\nsource = "pi"\n' >"$root/etc/tilekeeper/settings.toml"

# The board that the service will read: rendered here, where it is quick.
chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root PYTHONPATH=/opt/tilekeeper/source \
    /opt/tilekeeper/venv/bin/python /opt/tilekeeper/source/tests/hardware/vm_frames.py
