#!/bin/bash -e
# Stands for pi-gen's build.sh in tests of the card image's recipe: it runs the stages of STAGE_LIST by the same rules (only
# executable scripts, each in its own folder), with a root of empty folders, and notes what would run inside of the root.
# shellcheck disable=SC1091 # config is written by packaging/image/build.sh
source config
BASE_DIR=$PWD
export BASE_DIR ROOTFS_DIR=$BASE_DIR/rootfs IMG_NAME DEPLOY_DIR

copy_previous() { mkdir -p "$ROOTFS_DIR"; }
on_chroot() { { cat; ls "$ROOTFS_DIR/srv/tilekeeper"; } >>"$BASE_DIR/in_root.txt"; }
export -f copy_previous on_chroot

for stage in $STAGE_LIST; do
    cd "$BASE_DIR/$stage"
    if [ -x prerun.sh ]; then ./prerun.sh; fi
    for part in */; do
        if [ -x "$part/00-run.sh" ]; then (cd "$part" && ./00-run.sh); fi
    done
    if [ -e EXPORT_IMAGE ] && [ ! -e SKIP_IMAGES ]; then
        # shellcheck disable=SC1091
        source EXPORT_IMAGE
        echo "$stage" | xz >"$DEPLOY_DIR/image_2026-01-01-$IMG_NAME${IMG_SUFFIX:-}.img.xz"
    fi
done
