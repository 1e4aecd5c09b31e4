#!/bin/bash
# Builds the container image of packaging/Containerfile, and tries it: its user, the demo, a game with a phone as the camera
# over HTTP, and that the game goes on in the next container.
#
#     sudo tests/hardware/container_image.sh [ROOT]        default: a trixie that debootstrap makes in $ROOTS/base
#
# ROOT, the root of a Debian bookworm or trixie, becomes the base image, and is not changed. It needs podman, crun,
# debootstrap, Debian's archive and PyPI; ten minutes and 3 GB in $ROOTS (default: /var/tmp/tk-roots). Ports 8080 and 8443
# of this machine must be free. The image stays in $ROOTS/podman.
# shellcheck disable=SC2317 # functions are called by check
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
roots=${ROOTS:-/var/tmp/tk-roots}
root=${1:-$roots/base}
certificates=/etc/ssl/certs/ca-certificates.crt
failed=0

# crun knows either version of cgroups, but no mixture. So this script has a view of its own, with the second one.
if [ "$(stat -fc %T /sys/fs/cgroup)" != cgroup2fs ]; then
    [ -n "${CGROUPS_SEEN:-}" ] || CGROUPS_SEEN=yes exec unshare --mount --propagation private "$0" "$@"
    umount -R -l /sys/fs/cgroup
    mount -t cgroup2 none /sys/fs/cgroup
fi

podman=(command podman --root "$roots/podman/storage" --runroot "$roots/podman/run" --cgroup-manager cgroupfs
    --events-backend file --log-level error)
run=(run --rm --read-only --network host --cgroups disabled --ulimit nofile=4096:4096 --ulimit nproc=4096:4096
    --volume tilekeeper-test:/var/lib/tilekeeper)
podman() { "${podman[@]}" "$@"; }
check() { # check WHAT COMMAND...
    local what=$1
    shift
    if "$@" >"$roots/container_image.log" 2>&1; then echo "ok   $what"; else
        echo "FAIL $what"
        tail -15 "$roots/container_image.log"
        failed=$((failed + 1))
    fi
}
logs_have() { # logs_have TEXT: within two minutes
    local seconds
    for seconds in $(seq 120); do
        ! podman logs table 2>&1 | grep -q "$1" || return 0
        sleep 1
    done
    podman logs table
    echo "not said in $seconds seconds: $1"
    return 1
}
demo_plays() {
    local seconds
    for seconds in $(seq 120); do
        ! curl -fs http://127.0.0.1:8080/api/v1/turns | grep -q '"score":[1-9]' || return 0
        sleep 1
    done
    podman logs table
    echo "no turn in $seconds seconds"
    return 1
}
play() {
    local code
    code=$(podman logs table 2>&1 | sed -n 's/.*code there: //p' | tail -1)
    podman "${run[@]}" --volume "$tree/tests:/srv/tests:ro" --env PYTHONPATH=/srv \
        --entrypoint /opt/tilekeeper/venv/bin/python tilekeeper-test -m tests.hardware.phone_game "$code"
}
stop() { podman stop --time 20 table >/dev/null 2>&1 || true; }

make_base() {
    [ -e "$root/etc/debian_version" ] || debootstrap --variant=minbase trixie "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
    # pip trusts what this machine trusts: its way to PyPI may have an authority of its own.
    local extra
    extra=$(mktemp -d)
    mkdir -p "$extra/etc" "$extra/srv"
    cp "$certificates" "$extra/srv/ca.crt"
    printf '[global]\ncert = /srv/ca.crt\ntimeout = 180\n' >"$extra/etc/pip.conf"
    # No documents and packages: images of Debian have none.
    tar -C "$root" -c --exclude='./var/cache/apt/archives/*.deb' --exclude='./usr/share/doc/*' \
        --exclude='./usr/share/locale/*' . -C "$extra" ./etc/pip.conf ./srv/ca.crt | podman import - tilekeeper-base
    rm -rf "$extra"
}
build() {
    podman build --isolation chroot --network host --pull=never --build-arg BASE=localhost/tilekeeper-base \
        --file "$tree/packaging/Containerfile" --tag tilekeeper-test "$tree"
}

mkdir -p "$roots/podman"
trap 'stop; podman volume rm --force tilekeeper-test >/dev/null 2>&1 || true' EXIT
podman volume rm --force tilekeeper-test >/dev/null 2>&1 || true
check "a Debian root becomes the base image" make_base
check "the image is built" build
echo "     $(podman images --format '{{.Repository}} {{.Size}}' | grep tilekeeper- | tr '\n' ' ')"
check "its user is not root" test "$(podman "${run[@]}" --entrypoint id tilekeeper-test -un)" = tilekeeper
check "its libraries, networks and word list are in order" podman "${run[@]}" tilekeeper-test doctor --program
podman "${run[@]}" --detach --name table tilekeeper-test demo --speed 10 >/dev/null
check "the demo plays" demo_plays
stop
podman "${run[@]}" --detach --name table tilekeeper-test >/dev/null
check "the table starts" logs_have 'code there'
check "a phone plays a game" play
sed 's/^/     /' "$roots/container_image.log"
stop
podman "${run[@]}" --detach --name table tilekeeper-test >/dev/null
check "the game goes on in the next container" logs_have 'The game of .* continues'
echo "$failed failed"
exit "$((failed > 0))"
