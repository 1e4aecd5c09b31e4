#!/bin/bash -e
# The root of the stage before, as in all stages of pi-gen.
if [ ! -d "${ROOTFS_DIR}" ]; then
    copy_previous
fi
