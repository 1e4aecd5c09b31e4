#!/usr/bin/env bash
# Installs, upgrades, rolls back and purges the Debian package in a clean root of bookworm or trixie, with a game going on.
#
#     sudo tests/hardware/package.sh ROOT PACKAGE.deb [OLDER.deb]
#
# OLDER.deb is the previous release, built from its commit; without it, PACKAGE.deb is taken for both, with two versions.
# ROOT is changed: make it with debootstrap (--include=python3,libgomp1,systemd,systemd-sysv,udev), or use an overlay. No systemd
# runs there, so the service itself is shown by container.sh. The package is installed without its Recommends. package_build.sh
# makes packages and roots. A root for arm64 is emulated on another processor, by qemu-user-static.
# shellcheck disable=SC2317 # functions are called by check
set -euo pipefail

root=${1:?the folder of a root}
package=${2:?the package}
failed=0

# shellcheck source=/dev/null
source "$(dirname "$0")/emulation.sh"
architecture=$(dpkg-deb -f "$package" Architecture)
[ "$architecture" = "$(dpkg --print-architecture)" ] || register_emulator

inside=(chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
    DEBIAN_FRONTEND=noninteractive QEMU_CPU="$EMULATED_CORE")
as_service=("${inside[@]}" setpriv --reuid=tilekeeper --regid=tilekeeper --init-groups --reset-env
    env QEMU_CPU="$EMULATED_CORE")
inside() { "${inside[@]}" "$@"; }
as_service() { "${as_service[@]}" "$@"; }
check() { # check WHAT COMMAND...
    local what=$1
    shift
    if "$@" >/tmp/package.log 2>&1; then echo "ok   $what"; else echo "FAIL $what"; tail -5 /tmp/package.log; failed=$((failed + 1)); fi
}
install_package() { inside dpkg --install "/srv/$1" </dev/null; } # nobody answers a question
count_turns() {
    inside /usr/bin/python3 -c "import sqlite3; print(sqlite3.connect(
        'file:/var/lib/tilekeeper/games.db?mode=ro', uri=True).execute(
        'SELECT count(*) FROM event').fetchone()[0])"
}
run_until() { # run_until PATTERN ARGUMENTS...: the table runs until it says something like PATTERN, ten minutes at most
    local pattern=$1 log=$root/srv/run.log process
    shift
    : >"$log"
    "${as_service[@]}" timeout 600 /usr/bin/tilekeeper run --camera phone --port 18080 --host 127.0.0.1 \
        --data /var/lib/tilekeeper "$@" >"$log" 2>&1 &
    process=$!
    until grep -Eq "$pattern" "$log" || ! kill -0 "$process" 2>/dev/null; do sleep 0.5; done
    kill "$process" 2>/dev/null || true
    wait "$process" || true
    cat "$log"
    grep -Eq "$pattern" "$log"
}
show_demo() { # the page of a simulated table shows its game, after ten minutes at most
    local page='import json, urllib.request; print(json.load(urllib.request.urlopen("http://127.0.0.1:18081/api/v1/state")))' process
    "${as_service[@]}" timeout 600 /usr/bin/tilekeeper demo --port 18081 --data /var/lib/tilekeeper/demo &
    process=$!
    until inside /usr/bin/python3 -c "$page" | grep "'phase': 'turn'" || ! kill -0 "$process" 2>/dev/null; do sleep 1; done
    kill "$process" || return # it has ended by itself
    wait "$process" || true
}
is_kept_by_github() { [[ ${package##*/} =~ ^[A-Za-z0-9._+-]+$ ]]; } # others are replaced, and SHA256SUMS names no file
begin_game() { run_until 'A new game begins: Ann, Ben' --players Ann,Ben; } # it is not ended
go_on() { run_until 'The game of Ann and Ben (goes on|continues)'; } # in the words of older and newer versions

cp "$package" "$root/srv/next.deb"
if [ -n "${3:-}" ]; then
    cp "$3" "$root/srv/old.deb"
else # the same package with a higher version is the next release
    cp "$package" "$root/srv/old.deb"
    rm -rf "$root/srv/next" && dpkg-deb -R "$package" "$root/srv/next"
    sed -i "s/^Version: .*/Version: 9.$(dpkg-deb -f "$package" Version)/" "$root/srv/next/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -z1 --build "$root/srv/next" "$root/srv/next.deb" >/dev/null
    rm -rf "$root/srv/next"
fi

# No kernel of a Raspberry Pi, but its name: the package gives it a name and a Wi-Fi.
mkdir -p "$root/proc/device-tree"
echo 'Raspberry Pi 4 Model B' >"$root/proc/device-tree/model"
echo raspberrypi >"$root/etc/hostname"

check "GitHub keeps the name of its file" is_kept_by_github
check "it installs" install_package old.deb
check "the program's libraries, networks and word list are in order" as_service /usr/bin/tilekeeper doctor --program
check "the service finds its modules compiled" test -n "$(find "$root/opt/tilekeeper/venv/lib" -path '*/device/cli/__pycache__/run.*.pyc')"
check "a Raspberry Pi is named" grep -qx tilekeeper "$root/etc/hostname"
check "systemd will make its own Wi-Fi" inside systemctl is-enabled tilekeeper-first-start.service
check "a game is begun" begin_game
turns=$(count_turns)
sed -i 's/^port = 8080/port = 8181/' "$root/etc/tilekeeper/settings.toml"
check "it is upgraded" install_package next.deb
check "the upgrade keeps the game" test "$(count_turns)" = "$turns"
check "the upgrade keeps changed settings" grep -q '^port = 8181' "$root/etc/tilekeeper/settings.toml"
check "the service may write the settings file" as_service test -w /etc/tilekeeper -a -w /etc/tilekeeper/settings.toml
check "its libraries, networks and word list are in order, too" as_service /usr/bin/tilekeeper doctor --program
check "systemd will start it" inside systemctl is-enabled tilekeeper.service
check "the demo's page shows its game" show_demo
check "the unfinished game goes on in the new version" go_on
check "the games were copied before the upgrade" test -s "$root/var/lib/tilekeeper/before-upgrade/games.db"
check "the older version is installed again" install_package old.deb
check "the rollback keeps the game" test "$(count_turns)" = "$turns"
check "the unfinished game goes on in the old version" go_on
check "the rollback exported the games" test -s "$root/var/lib/tilekeeper/exported/game-1.zip"
check "it is removed" inside dpkg --remove tilekeeper
check "a removal keeps the game" test "$(count_turns)" = "$turns"
check "a removal gives the machine its former name" grep -qx raspberrypi "$root/etc/hostname"
check "a removal leaves no program" test ! -e "$root/opt/tilekeeper"
mkdir -p "$root/opt/tilekeeper" && ln -s versions/0.1.0-1 "$root/opt/tilekeeper/venv"
check "an installation by install.sh is not overwritten" sh -c "! chroot $root dpkg --install /srv/next.deb"
rm -r "$root/opt/tilekeeper"
check "it is purged" inside dpkg --purge tilekeeper
check "a purge keeps the game" test "$(count_turns)" = "$turns"
check "a purge removes the user" sh -c "! grep -q ^tilekeeper $root/etc/passwd"
check "it installs over the games" install_package old.deb
check "the games belong to the new user" as_service test -w /var/lib/tilekeeper/games.db
check "a purge that may delete games is prepared" inside sh -c \
    "echo 'tilekeeper tilekeeper/delete_games boolean true' | debconf-set-selections"
check "it is purged again" inside dpkg --purge tilekeeper
check "the games are deleted if that was answered" test ! -e "$root/var/lib/tilekeeper"
echo "$failed failed"
exit "$((failed > 0))"
