#!/usr/bin/env bash
# Builds the card image with pi-gen, and the list for Raspberry Pi Imager. It has never run: it needs pi-gen's checkout.
#
#     sudo packaging/image/build.sh PI-GEN PACKAGE_arm64.deb URL        into dist/
#
# PI-GEN is a checkout of https://github.com/RPi-Distro/pi-gen, branch arm64, on an arm64 machine with its dependencies.
# URL is the address of the folder in which the files of dist/ will be. packaging/image/setup.sh has the steps inside of the image.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pi_gen=$(realpath "${1:?the folder of pi-gen}")
package=$(realpath "${2:?the Debian package for arm64}")
url=${3:?the address of the image}
dist=$(realpath -m dist)

stage=$pi_gen/stage-tilekeeper
rm -rf "$stage"
cp -r "$here/stage-tilekeeper" "$stage"
mkdir -p "$stage/00-tilekeeper/files" "$dist"
cp "$here/setup.sh" "$here/tilekeeper-wifi.txt" "$stage/00-tilekeeper/files/"
cp "$package" "$stage/00-tilekeeper/files/tilekeeper.deb"
touch "$pi_gen/stage2/SKIP_IMAGES" # the plain Lite image is not wanted
{
    cat "$here/config"
    printf 'STAGE_LIST="stage0 stage1 stage2 stage-tilekeeper"\nDEPLOY_DIR=%s\n' "$dist"
} >"$pi_gen/config"
(cd "$pi_gen" && ./build.sh)
image=$(find "$dist" -name "*.img.xz" -newer "$pi_gen/config" -print -quit)
cp "$here/../../web/static/icon-192.png" "$dist/tilekeeper-icon.png"
python3 "$here/os_list.py" "$image" "$url" >"$dist/os_list.json"
