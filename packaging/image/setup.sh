#!/usr/bin/env bash
# Makes a table of a Raspberry Pi OS Lite or Debian (bookworm, trixie; 64-bit): the steps of the card image, run in its root.
#
#     packaging/image/setup.sh PACKAGE.deb        as root, in the root of the image (chroot)
#
# The Wi-Fi of its own gets its name and password on the first start of each card, not here. tests/hardware/image_root.sh
# runs this in a plain Debian root.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
package=$(realpath "${1:?the Debian package}")
export DEBIAN_FRONTEND=noninteractive

apt-get -q update
# With the Recommends of the package, as far as the system has them.
apt-get -qy install "$package" rfkill
systemctl enable tilekeeper.service tilekeeper-first-start.service NetworkManager.service avahi-daemon.service
/opt/tilekeeper/host-name.sh suggest tilekeeper
install -D "$here/tilekeeper-wifi.txt" /boot/firmware/tilekeeper-wifi.txt
apt-get clean
rm -rf /var/lib/apt/lists/*
