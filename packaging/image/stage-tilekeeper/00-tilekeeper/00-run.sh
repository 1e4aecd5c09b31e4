#!/bin/bash -e
# build.sh puts the package and the steps into files/.
mkdir -p "${ROOTFS_DIR}/srv/tilekeeper"
cp files/* "${ROOTFS_DIR}/srv/tilekeeper/"
on_chroot <<'STEPS'
bash /srv/tilekeeper/setup.sh /srv/tilekeeper/tilekeeper.deb
STEPS
rm -rf "${ROOTFS_DIR}/srv/tilekeeper"
