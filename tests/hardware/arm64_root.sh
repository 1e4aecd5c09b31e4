#!/usr/bin/env bash
# The proof without a Raspberry Pi: a Debian trixie root for arm64 under qemu-user, in which install.sh itself installs,
# upgrades, fails to upgrade and uninstalls Tilekeeper, and what it installed is tested and compared with this machine.
#
#     sudo tests/hardware/arm64_root.sh [ROOT [PICTURE...]]        default: /var/tmp/tk-roots/arm64
#
# It needs qemu-user-static, debootstrap, Debian's archive and PyPI, the project's Python as $PYTHON (default:
# .venv/bin/python), 4 GB, and an hour. What is done already (root, packages, wheels) is not done again. PICTUREs are
# read here and there; without any, three rendered tables are. Ends with status 0 when everything is as it should be.
#
# It cannot show: a kernel of a Raspberry Pi, its camera and pins, a systemd that runs, how long anything takes.
set -Eeuo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
root=${1:-/var/tmp/tk-roots/arm64}
[ $# -eq 0 ] || shift
python=${PYTHON:-$tree/.venv/bin/python}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
certificates=/etc/ssl/certs/ca-certificates.crt
installed=/opt/tilekeeper/venv
failures=0
# shellcheck source=/dev/null
source "$here/emulation.sh"

began=$(date +%s)
step() { printf '\n==== %s  %s\n' "$(date +%H:%M:%S)" "$*"; }
check() { # check WHAT COMMAND...
    local what=$1
    shift
    if "$@" >/dev/null 2>&1; then echo "ok   $what"; else echo "FAIL $what: $*"; failures=$((failures + 1)); fi
}
once() { [ ! -e "$root/.done-$1" ] && step "$1"; }
mark() { touch "$root/.done-$1"; }

inside() {
    register_emulator
    chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive PIP_CERT=$certificates PIP_ROOT_USER_ACTION=ignore \
        PIP_FIND_LINKS=/root/wheels PIP_NO_INDEX=1 QEMU_CPU="$EMULATED_CORE" "$@"
}
as_table() { inside setpriv --reuid=tilekeeper --regid=tilekeeper --init-groups --reset-env env QEMU_CPU="$EMULATED_CORE" "$@"; }

put_tree() { # put_tree FOLDER: the files that git tracks, as they are now
    rm -rf "${root:?}$1"
    mkdir -p "$root$1"
    git -C "$tree" ls-files -z | tar -C "$tree" -c --null --ignore-failed-read -T - | tar -x --no-same-owner -C "$root$1"
}

make_root() {
    mkdir -p "$root"
    if once base && [ ! -e "$root/usr/bin/python3" ]; then
        register_emulator
        debootstrap --arch=arm64 --variant=minbase --include=python3,ca-certificates trixie "$root" "$mirror"
    fi
    mark base
    printf 'deb %s trixie main\ndeb %s trixie-backports main\n' "$mirror" "$mirror" >"$root/etc/apt/sources.list"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fast"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    cp "$certificates" "$root$certificates"
    mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
    if once packages; then # what Raspberry Pi OS has before anything is installed, and a compiler for picamera2
        printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"
        inside apt-get -q update
        inside apt-get -qy install --no-install-recommends systemd udev network-manager
        inside apt-get -qy install --no-install-recommends -t trixie-backports python3-libcamera libcamera-ipa
        inside apt-get -qy install --no-install-recommends gcc libc6-dev python3-dev libcap-dev
        mark packages
    fi
    # PyPI is asked from here, since emulated encryption takes minutes; and only where pyproject.toml has changed.
    local wanted=$root/root/wanted.txt
    "$python" - "$tree/pyproject.toml" >"$wanted.new" <<'PY'
import sys, tomllib
project = tomllib.load(open(sys.argv[1], "rb"))["project"]
print(*project["dependencies"], *project["optional-dependencies"]["panel"], sep="\n")
print("setuptools>=77\nbabel>=2.12\nwheel\npytest\npytest-xdist\nhypothesis")
PY
    if ! cmp -s "$wanted.new" "$wanted"; then
        step wheels
        mkdir -p "$root/root/wheels"
        local tags=() version
        for version in 2_17 2_27 2_28 2_31 2_34 2_39; do tags+=(--platform "manylinux_${version}_aarch64"); done
        "$python" -m pip download -q --python-version 313 --platform manylinux2014_aarch64 "${tags[@]}" \
            --only-binary=:all: --constraint "$tree/packaging/constraints-3.13.txt" -d "$root/root/wheels" -r "$wanted.new"
        mv "$wanted.new" "$wanted"
    fi
}

install_it() {
    step "install"
    echo raspberrypi >"$root/etc/hostname"
    put_tree /root/tilekeeper
    inside /root/tilekeeper/systemd/install.sh --yes --hotspot
    first=$(readlink "$root$installed")
    check "the program runs" inside tilekeeper --help
    check "as the service's user too" as_table tilekeeper doctor --program
    check "the unit starts with the plug" inside systemctl is-enabled tilekeeper.service
    check "systemd understands the unit" inside systemd-analyze verify --man=no tilekeeper.service
    inside systemd-analyze security --offline=yes --no-pager tilekeeper.service | tail -n 1
    check "its exposure is under 1.8" inside systemd-analyze security --offline=yes --threshold=17 tilekeeper.service
    local group
    for group in video render audio gpio i2c spi; do
        check "the user is in the group $group" grep -Eq "^$group:.*\btilekeeper\b" "$root/etc/group"
    done
    check "the machine has its name" grep -qx tilekeeper "$root/etc/hostname"
    check "the Wi-Fi of its own waits behind all others" \
        grep -q '^autoconnect-priority=-10$' "$root/etc/NetworkManager/system-connections/tilekeeper-hotspot.nmconnection"
    check "only root reads its key" test "$(stat -c %a "$root/etc/NetworkManager/system-connections/tilekeeper-hotspot.nmconnection")" = 600
    check "the table may read name and password" as_table "$installed/bin/python" -c \
        'from device.system.wifi import read_hotspot; assert read_hotspot().password'
    check "nothing was left in the checkout" test ! -e "$root/root/tilekeeper/build"
    inside tilekeeper doctor | sed "s,^,     | ," || true # no camera, no systemd: it says so
}

play_something() { # a game and a setting that must still be there at the end
    step "a game is kept"
    as_table "$installed/bin/python" - <<'PY'
from device.storage.store import GameStore
with GameStore("/var/lib/tilekeeper/games.db") as store:
    print("game", store.begin({"kind": "a game of before"}))
PY
    sed -i 's/^port = 8080/port = 8088/' "$root/etc/tilekeeper/settings.toml"
    before=$(sha256sum "$root/etc/tilekeeper/settings.toml" "$root/var/lib/tilekeeper/games.db")
}
# shellcheck disable=SC2317,SC2329  # check calls it
is_kept() { [ "$before" = "$(sha256sum "$root/etc/tilekeeper/settings.toml" "$root/var/lib/tilekeeper/games.db")" ]; }

upgrade_it() {
    step "upgrade"
    put_tree /root/newer
    sed -i 's/^version = ".*"/version = "99.0.1"/' "$root/root/newer/pyproject.toml"
    inside /root/newer/systemd/install.sh --yes
    second=$(readlink "$root$installed")
    check "the new version is in place" test "$second" = versions/99.0.1-2
    check "it runs" inside tilekeeper --help
    check "the old one is there to go back to" test -x "$root/opt/tilekeeper/$first/bin/tilekeeper"
    check "games and settings are as they were" is_kept
}

fail_to_upgrade() {
    step "an upgrade that fails"
    put_tree /root/broken
    sed -i 's/^version = ".*"/version = "99.0.2"/' "$root/root/broken/pyproject.toml"
    truncate -s 1000 "$root/root/broken/vision/models/letters.onnx" # as a copy that was cut off
    echo '# another unit' >>"$root/root/broken/systemd/tilekeeper.service"
    check "it ends with a fault" inside sh -c '! /root/broken/systemd/install.sh --yes >/root/failed.log 2>&1'
    tail -n 12 "$root/root/failed.log"
    check "the version of before is in place" test "$(readlink "$root$installed")" = "$second"
    check "it runs" as_table tilekeeper doctor --program
    check "the unit is that of before" sh -c "! grep -q 'another unit' '$root/etc/systemd/system/tilekeeper.service'"
    check "nothing of the new one is left" sh -c "! ls -d '$root'/opt/tilekeeper/versions/99.0.2-*"
    check "games and settings are as they were" is_kept
}

test_it() {
    step "the tests of engine and vision on arm64"
    inside python3 -m pip install -q --root-user-action=ignore --target /root/testing pytest pytest-xdist hypothesis
    # The installed libraries, the checkout's tests. Emulation is too slow for the tests of speed.
    check "they pass" inside sh -c "cd /root/tilekeeper && PYTHONPATH=/root/testing timeout 3000 $installed/bin/python -m pytest -q \
        -p no:cacheprovider --ignore=tests/engine/inference/test_speed.py --ignore=tests/vision/training/test_training.py \
        ${TESTS:-tests/engine tests/vision} >/root/tests.log 2>&1"
    tail -n 8 "$root/root/tests.log"
}

read_pictures() {
    step "the same boards as here"
    local pictures=$root/root/pictures
    rm -rf "$pictures"
    mkdir -p "$pictures"
    if [ $# -gt 0 ]; then
        cp "$@" "$pictures/"
    else
        (cd "$tree" && "$python" - "$pictures" <<'PY'
import sys
import cv2
from vision.rendering.simulated_table import EDITIONS, SimulatedTable
for seed, edition in enumerate(list(EDITIONS)[:3]):
    table = SimulatedTable(seed, edition)
    table.lay_tiles({(7, 3 + i): letter for i, letter in enumerate("QUIXOTRY")} | {(4 + i, 5): s for i, s in enumerate("VEXINGLY")})
    cv2.imwrite(f"{sys.argv[1]}/{edition}.png", table.photograph().image)
PY
        )
    fi
    inside sh -c 'cd /root/pictures && tilekeeper read --json *' >"$root/root/there.jsonl"
    (cd "$pictures" && PYTHONPATH=$tree "$python" -c 'import sys; from device.cli import main; sys.exit(main(sys.argv[1:]))' \
        read --json -- *) >"$root/root/here.jsonl"
    "$python" - "$root/root/here.jsonl" "$root/root/there.jsonl" <<'PY' || failures=$((failures + 1))
import json, sys
here, there = ([json.loads(line) for line in open(path, encoding="utf-8")] for path in sys.argv[1:])
assert len(here) == len(there) > 0
same = 0
for a, b in zip(here, there, strict=True):
    far = max((abs(p - q) for r, s in zip(a["confidence"] or [], b["confidence"] or []) for p, q in zip(r, s)), default=0)
    same += a["board"] == b["board"]
    print(f"{'ok  ' if a['board'] == b['board'] else 'FAIL'} {a['photo']}: confidences differ by {far:.4f} at most; "
          f"{a['ms']['total']:.0f} ms here, {b['ms']['total']:.0f} ms emulated")
sys.exit(same < len(here))
PY
}

capture() {
    step "a frame from the real picamera2"
    local packages bridge
    packages=$(echo "$root$installed"/lib/python3.*/site-packages)
    if [ ! -d "$packages/picamera2" ]; then # on Raspberry Pi OS it comes from apt
        inside env PIP_NO_INDEX= PIP_FIND_LINKS= python3 -m pip --python $installed/bin/python install -q picamera2==0.3.38
    fi
    cp "$here/pykms.py" "$here/virtual_picamera2.py" "$packages/"
    bridge='from virtual_picamera2 import VirtualPicamera2 as Picamera2  # there is no camera module here'
    grep -qF "$bridge" "$packages/picamera2/__init__.py" || printf '%s\n' "$bridge" >>"$packages/picamera2/__init__.py"
    cp "$here/virtual.yaml" "$root/usr/share/libcamera/pipeline/virtual/virtual.yaml"
    cp "$here/dma_standin.c" "$root/root/"
    inside gcc -shared -fPIC -O2 -o /root/dma_standin.so /root/dma_standin.c -ldl
    mkdir -p "$root/srv/frames"
    rm -f "$root"/srv/frames/*
    (cd "$tree" && "$python" - "$root/srv/frames/0.jpg" <<'PY'
import sys
import cv2
from vision.rendering.simulated_table import SimulatedTable
table = SimulatedTable(5, size=(1728, 1296))
table.lay_tiles({(7, 3 + i): letter for i, letter in enumerate("QUIXOTRY")})
cv2.imwrite(sys.argv[1], table.photograph().image, [cv2.IMWRITE_JPEG_QUALITY, 95])
PY
    )
    inside env LD_PRELOAD=/root/dma_standin.so LIBCAMERA_LOG_LEVELS='*:ERROR' timeout 900 $installed/bin/python - <<'PY' || failures=$((failures + 1))
import sys
import time
import cv2
import picamera2
from device.cameras import open_camera
import importlib.metadata, platform
began = time.monotonic()
with open_camera("pi") as camera:
    frame = camera.still()
print("picamera2", importlib.metadata.version("picamera2"), platform.machine(), camera, frame.image.shape,
      f"{time.monotonic() - began:.1f} s, mean {frame.image.mean():.1f}")
cv2.imwrite("/root/frame.png", frame.image)
sys.exit(bool(frame.image.mean() < 20))
PY
    inside tilekeeper read /root/frame.png | tee "$root/root/frame.txt"
    check "the frame was read into its board" grep -Eq '^ +8 +· +· +· +Q +U +I +X +O +T +R +Y' "$root/root/frame.txt"
}

uninstall_it() {
    step "uninstall"
    inside /opt/tilekeeper/uninstall.sh --yes
    check "the games are kept" test -s "$root/var/lib/tilekeeper/games.db"
    check "the settings are beside them" grep -q '^port = 8088' "$root/var/lib/tilekeeper/settings.toml"
    check "the name is that of before" grep -qx raspberrypi "$root/etc/hostname"
    check "the user is gone" sh -c "! grep -q tilekeeper '$root/etc/passwd'"
    check "nothing else is left" sh -c "! find '$root'/etc '$root'/opt '$root'/usr/local '$root'/var/cache -xdev -iname '*tilekeeper*' | grep ."
    inside rm -rf /var/lib/tilekeeper
}

# A trigger of some package's installation (systemd-binfmt) may take the registration away at any time.
(while sleep 0.2; do register_emulator 2>/dev/null || true; done) &
keeper=$!
trap 'kill $keeper; umount "$root/proc" 2>/dev/null || true' EXIT
make_root
install_it
play_something
upgrade_it
fail_to_upgrade
read_pictures "$@"
capture
test_it
uninstall_it
step "$failures faults, after $((($(date +%s) - began) / 60)) minutes, at commit $(git -C "$tree" rev-parse --short HEAD)"
exit $((failures > 0))
