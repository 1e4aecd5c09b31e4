#!/usr/bin/env bash
# Takes Tilekeeper away again: program, unit, rules, user, Wi-Fi of its own, name of the machine.
#
#     sudo /opt/tilekeeper/uninstall.sh [--data] [--yes]
#
#   --data   the games too; without it /var/lib/tilekeeper stays, and the settings are put there
#   --yes    ask nothing
set -euo pipefail

BASE=/opt/tilekeeper
DATA=/var/lib/tilekeeper
ETC=/etc/tilekeeper

say() { printf '%s\n' "$*"; }
refuse() { printf 'uninstall.sh: %s\n' "$*" >&2; exit 2; }
booted() { [ -d /run/systemd/system ]; }

main() {
    local with_data='' ask='' answer path former
    [ -t 0 ] && ask=yes
    while [ $# -gt 0 ]; do
        case $1 in
            --data) with_data=yes ;;
            --yes) ask='' ;;
            -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; return 0 ;;
            *) refuse "$1 is not known; --help says what is" ;;
        esac
        shift
    done
    [ "$(id -u)" = 0 ] || refuse "this needs root: sudo $0"
    [ -d "$BASE" ] || refuse "$BASE is not there: nothing is installed"
    if [ -n "$ask" ]; then
        read -r -p "Take Tilekeeper away${with_data:+, and ALL GAMES with it}? [y/N] " answer
        [[ $answer == [Yy]* ]] || refuse "nothing was done"
    fi

    ! booted || systemctl stop tilekeeper.service || true
    systemctl disable -q tilekeeper.service 2>/dev/null || true
    # The list was written by install.sh: files of its own, nothing of anybody else.
    while read -r path; do
        case $path in
            /etc/tilekeeper/* | "$BASE"/*) ;; # with their folders, below
            /etc/*tilekeeper* | /usr/local/bin/tilekeeper) rm -f -- "$path" && say "removed $path" ;;
            *) say "left alone: $path" ;;
        esac
    done < <(cat "$BASE/files" 2>/dev/null)
    if booted; then
        systemctl daemon-reload
        systemctl reset-failed tilekeeper.service 2>/dev/null || true
        udevadm control --reload || true
        systemctl try-restart systemd-journald polkit || true
        ! command -v nmcli >/dev/null || nmcli connection reload || true
    fi
    rmdir --ignore-fail-on-non-empty /etc/systemd/journald.conf.d /etc/systemd/system.conf.d /etc/issue.d 2>/dev/null || true

    if [ -n "$with_data" ] && [ -d "$DATA" ]; then
        find "$DATA" -mindepth 1 -delete
        rmdir "$DATA" 2>/dev/null || true # a partition of the games is mounted there: fstab still names it
        say "removed $DATA"
    elif [ -d "$DATA" ]; then
        [ ! -e "$ETC/settings.toml" ] || cp -p "$ETC/settings.toml" "$DATA/settings.toml"
        chown -R root:root "$DATA" # the user goes, and its number may become another's
        say "kept $DATA: the games, and settings.toml"
    fi
    rm -rf "$ETC" /var/cache/tilekeeper
    ! getent passwd tilekeeper >/dev/null || userdel tilekeeper
    ! getent group tilekeeper >/dev/null || groupdel tilekeeper
    if [ -e "$BASE/former-hostname" ]; then
        former=$(cat "$BASE/former-hostname")
        "$BASE/host-name.sh" restore
        say "this machine is $former again"
    fi
    if [ -s "$BASE/packages" ]; then
        # Not purged here: something else may have come to need them. apt knows.
        sort -u "$BASE/packages" | xargs apt-mark -q auto >/dev/null || true
        say "packages that came with it are unneeded now: sudo apt-get autoremove takes away those that nothing else needs"
    fi
    rm -rf "$BASE"
    say "removed $BASE, the user tilekeeper and its unit"
}

main "$@"
