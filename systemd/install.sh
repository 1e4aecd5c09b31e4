#!/usr/bin/env bash
# Installs Tilekeeper on Raspberry Pi OS or Debian (bookworm, trixie; 64-bit), or upgrades it.
#
#     sudo ./systemd/install.sh [--name NAME | --keep-name] [--country CC] [--hotspot | --no-hotspot] [--yes]
#
#   --name NAME     the machine becomes NAME.local on the network (default: tilekeeper; asked on a terminal)
#   --keep-name     the machine keeps its name
#   --country CC    the country of the Wi-Fi, as two letters: DE, GB, US ... (a Raspberry Pi has no Wi-Fi without it)
#   --hotspot       a Wi-Fi of its own where no known one is in reach (default where NetworkManager is in use)
#   --no-hotspot    no Wi-Fi of its own
#   --yes           ask nothing
#
# Run again, it upgrades: the new version is built and checked beside the old one, then a link is switched; when
# anything fails, the old version goes on. Games in /var/lib/tilekeeper and settings in /etc/tilekeeper are kept.
set -Eeuo pipefail
shopt -s nullglob

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BASE=/opt/tilekeeper                    # versions/<version>-<n>: a virtual environment each; venv: a link to one
DATA=/var/lib/tilekeeper
ETC=/etc/tilekeeper
PROGRAM=tilekeeper                      # the user, the unit and the command
NEEDED_MB=970                           # packages, two versions side by side, and room for games

say() { printf '%s\n' "$*"; }
step() { STEP=$*; printf '\n== %s\n' "$*"; }
refuse() { printf 'install.sh: %s\n' "$*" >&2; exit 2; }
booted() { [ -d /run/systemd/system ]; } # false in a chroot: units are enabled, nothing is started
name_now() { if booted; then uname -n; else cat /etc/hostname; fi; }
as_user() { setpriv --reuid="$PROGRAM" --regid="$PROGRAM" --init-groups --reset-env "$@"; }
is_installed() { [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == *'ok installed' ]]; }
user_version() { # of the store: what wrote it; the table itself keeps a damaged one and recovers its games
    [ ! -e "$DATA/games.db" ] || python3 - "$DATA/games.db" <<'PY'
import sqlite3, sys
try:
    print(sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version").fetchone()[0])
except sqlite3.DatabaseError:
    print("damaged")
PY
}

store_files() { # without damaged files that were kept
    local file
    for file in "$DATA"/games.db{,-wal,-shm,-journal,.tail}; do [ ! -e "$file" ] || say "$file"; done
}

usage() { sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; }

read_options() {
    NAME='' KEEP_NAME='' COUNTRY='' HOTSPOT=auto ASK=''
    [ -t 0 ] && ASK=yes
    while [ $# -gt 0 ]; do
        case $1 in
            --name) [ $# -gt 1 ] || refuse "--name needs a name: --name tilekeeper"; NAME=${2%.local}; shift ;;
            --keep-name) KEEP_NAME=yes ;;
            --country) [ $# -gt 1 ] || refuse "--country needs two letters: --country DE"; COUNTRY=${2^^}; shift ;;
            --hotspot) HOTSPOT=yes ;;
            --no-hotspot) HOTSPOT=no ;;
            --yes) ASK='' ;;
            -h | --help) usage; exit 0 ;;
            *) refuse "$1 is not an option of this program. --help lists all options" ;;
        esac
        shift
    done
    check_name
    [ -z "$COUNTRY" ] || [[ $COUNTRY =~ ^[A-Z]{2}$ ]] || refuse "'$COUNTRY' is not a country code. Use two letters, such as DE"
}

check_name() {
    [ -z "$NAME" ] || [[ $NAME =~ ^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$ ]] ||
        refuse "'$NAME' cannot be the name of a machine. Use up to 63 letters, digits and hyphens"
}

check_machine() {
    [ "$(id -u)" = 0 ] || refuse "this needs root: sudo $0"
    command -v apt-get >/dev/null || refuse "this system has no apt-get. Use Raspberry Pi OS or Debian"
    # The userland decides: Raspberry Pi OS may run a 64-bit kernel under 32-bit programs.
    local arch codename
    arch=$(dpkg --print-architecture)
    case $arch in
        arm64 | amd64) ;;
        armhf | armel | i386)
            refuse "this system is 32-bit ($arch), but Tilekeeper needs a 64-bit system. Write" \
                "'Raspberry Pi OS (64-bit)' to the card with Raspberry Pi Imager, then run this again" ;;
        *) refuse "Tilekeeper does not run on $arch. It needs arm64 (a Raspberry Pi 3, 4, 5, Zero 2 W) or amd64" ;;
    esac
    codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    case $codename in
        bookworm | trixie) ;;
        *) refuse "this system is ${codename:-an unknown release}, but Tilekeeper needs bookworm or trixie." \
            "Write a newer Raspberry Pi OS (64-bit) to the card" ;;
    esac
    ! is_installed tilekeeper || refuse "the Debian package tilekeeper is installed. Upgrade it with apt, or remove it first" \
        "(the games are kept): sudo apt-get remove tilekeeper"
    command -v systemd-sysusers >/dev/null || refuse "systemd is missing: sudo apt-get install systemd"
    [ -f "$SOURCE/pyproject.toml" ] || refuse "$SOURCE is not a complete copy of Tilekeeper. Copy the whole folder, and run this in it"
    mkdir -p "$BASE/versions"
    local free needed=$NEEDED_MB file
    while read -r file; do # the upgrade copies them
        needed=$((needed + $(stat -c %s "$file") / 1000000))
    done < <(store_files)
    free=$(($(df --output=avail -k "$BASE" | tail -n 1) / 1024))
    [ "$free" -ge "$needed" ] || refuse "only $free MB are free on the card, but $needed are needed." \
        "Try: sudo apt-get clean. Stored pictures can be deleted on the page"
    exec 9>"$BASE/.lock"
    flock -n 9 || refuse "another install.sh is running. Wait until it has finished"
}

ask_name() {
    NAME_LOST=''
    ! "$SOURCE/systemd/host-name.sh" is-lost || NAME_LOST=yes
    [ -z "$NAME$KEEP_NAME" ] || return 0
    local now
    now=$(name_now)
    if [ -L "$BASE/venv" ] && [ -z "$NAME_LOST" ]; then # an upgrade: what was chosen then stays
        # An older version may have given this name without telling cloud-init, which would take it back.
        if [ -e "$BASE/former-hostname" ]; then NAME=$now; else KEEP_NAME=yes; fi
        return 0
    fi
    NAME=tilekeeper
    if [ -n "$ASK" ] && [ "$now" != "$NAME" ]; then
        local answer
        read -r -p "This machine is called $now.local. Rename it to $NAME.local, also for ssh? [Y/n or another name] " answer
        case $answer in
            '' | [Yy] | [Yy]es) ;;
            [Nn] | [Nn]o) NAME='' KEEP_NAME=yes ;;
            *) NAME=${answer%.local}; check_name ;;
        esac
    fi
}

install_packages() {
    export DEBIAN_FRONTEND=noninteractive
    local needed=(python3-venv python3-pip avahi-daemon polkitd ca-certificates) optional missing=() package
    # Of Raspberry Pi OS, and as far as Debian has them. Without recommendations: those are for a desktop.
    optional=(python3-picamera2 python3-libcamera python3-lgpio python3-spidev espeak-ng alsa-utils)
    [ "$HOTSPOT" = no ] || ! command -v nmcli >/dev/null || optional+=(dnsmasq-base nftables iw)
    [ "$HOTSPOT" != yes ] || needed+=(network-manager dnsmasq-base nftables iw)
    if [ -n "$OLD" ]; then
        find_missing
        if [ ${#missing[@]} = 0 ]; then # an upgrade needs nobody but PyPI
            say "all are installed"
            return 0
        fi
    fi
    apt-get -q update
    find_missing
    [ ${#missing[@]} = 0 ] || apt-get -qy install --no-install-recommends "${missing[@]}"
    [ ${#missing[@]} = 0 ] || printf '%s\n' "${missing[@]}" >>"$BASE/packages"
    for package in "${optional[@]}"; do
        is_installed "$package" || say "this system does not offer: $package"
    done
}

find_missing() { # of install_packages: what is to be installed and can be
    local known
    missing=()
    for package in "${needed[@]}"; do is_installed "$package" || missing+=("$package"); done
    known=" $(apt-cache show --no-all-versions "${optional[@]}" 2>/dev/null | sed -n 's/^Package: //p' | tr '\n' ' ' || true) "
    for package in "${optional[@]}"; do
        is_installed "$package" || [[ $known != *" $package "* ]] || missing+=("$package")
    done
}

build_version() {
    local version number copy old
    version=$(sed -n '/^version = /{s/.*"\(.*\)".*/\1/p;q}' "$SOURCE/pyproject.toml")
    number=1 # no date: a Raspberry Pi without network does not know it
    for old in "$BASE"/versions/*; do
        [ "${old##*-}" -lt "$number" ] || number=$((${old##*-} + 1))
    done
    NEW=$BASE/versions/$version-$number
    say "into $NEW"
    # With the system's packages: libcamera and picamera2 are made for the system's Python, and come from apt alone.
    # Without a pip of its own: the system's installs into it.
    python3 -m venv --system-site-packages --without-pip "$NEW"
    copy=$NEW/source # pip leaves its traces there, not in somebody's checkout
    mkdir "$copy"
    cp -r "$SOURCE"/{pyproject.toml,setup.py,README.md,LICENSE,engine,vision,calibration,device,web} "$copy"
    find "$copy" -name __pycache__ -prune -exec rm -rf {} +

    # The versions with which this version was tested; on bookworm also those that its picamera2 works with.
    CONSTRAINTS=$SOURCE/packaging/constraints-$(python3 -c 'import sys; print("{}.{}".format(*sys.version_info))').txt
    pip_into "${copy}[panel]"
    "$NEW/bin/python" -c 'import lgpio' 2>/dev/null || pip_into 'lgpio>=0.2.2' ||
        say "no lgpio, so buttons on pins cannot be used: Raspberry Pi OS has it, this system does not"
    rm -rf "$copy"
}

pip_into() {
    PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore python3 -m pip --python "$NEW/bin/python" install -q \
        --no-warn-script-location --only-binary lgpio --constraint "$CONSTRAINTS" "$@"
}

# put FILE PATH [MODE]: a file of the system; what was there is kept until the upgrade is through.
put() {
    local kept=$SAVED$2
    if [ ! -e "$kept" ] && [ ! -e "$kept.none" ]; then
        mkdir -p "$(dirname "$kept")"
        if [ -e "$2" ]; then cp -a "$2" "$kept"; else : >"$kept.none"; fi
    fi
    install -D -m "${3:-644}" "$1" "$2"
    grep -qxF "$2" "$BASE/files" 2>/dev/null || say "$2" >>"$BASE/files"
}

put_files() {
    put "$SOURCE/systemd/tilekeeper.sysusers" /etc/sysusers.d/tilekeeper.conf
    systemd-sysusers /etc/sysusers.d/tilekeeper.conf
    put "$SOURCE/systemd/tilekeeper.udev" /etc/udev/rules.d/60-tilekeeper.rules
    put "$SOURCE/systemd/tilekeeper.polkit" /etc/polkit-1/rules.d/50-tilekeeper.rules
    put "$SOURCE/systemd/tilekeeper.journald" /etc/systemd/journald.conf.d/tilekeeper.conf
    put "$SOURCE/systemd/tilekeeper.service" /etc/systemd/system/tilekeeper.service
    put "$SOURCE/systemd/tilekeeper.watchdog" /etc/systemd/system.conf.d/tilekeeper.conf
    put "$SOURCE/systemd/uninstall.sh" "$BASE/uninstall.sh" 755
    put "$SOURCE/systemd/host-name.sh" "$BASE/host-name.sh" 755
    install -d -m 775 -g "$PROGRAM" "$ETC" # the page writes the settings file, and replaces it in one step
    if [ ! -e "$ETC/settings.toml" ]; then
        "$NEW/bin/python" -I -m device.settings >"$ETC/settings.toml"
        say "settings: $ETC/settings.toml (all defaults, explained)"
    fi
    chown "$PROGRAM:$PROGRAM" "$ETC/settings.toml"
    install -d -m 750 -o "$PROGRAM" -g "$PROGRAM" "$DATA"
    chown -R "$PROGRAM:$PROGRAM" "$DATA"
}

check_version() {
    # As the service's user, with the settings of this table: all networks load, the word list opens.
    as_user "$NEW/bin/tilekeeper" --help >/dev/null
    as_user "$NEW/bin/tilekeeper" doctor --program --settings "$ETC/settings.toml"
}

switch_to() { # in one step: rename(2) replaces the link, once all files of the version are on the card
    sync
    ln -sfn "versions/${1##*/}" "$BASE/.venv.next"
    mv -T "$BASE/.venv.next" "$BASE/venv"
}

start_version() {
    ln -sfn "$BASE/venv/bin/tilekeeper" /usr/local/bin/tilekeeper
    grep -qxF /usr/local/bin/tilekeeper "$BASE/files" || say /usr/local/bin/tilekeeper >>"$BASE/files"
    if ! booted; then
        switch_to "$NEW"
        systemctl enable tilekeeper.service
        say "systemd is not running: the table starts with the next boot"
        return 0
    fi
    udevadm control --reload || true
    udevadm trigger || true
    systemctl try-restart systemd-journald polkit || true
    WAS_ACTIVE=$(systemctl is-active tilekeeper.service || true)
    systemctl stop tilekeeper.service 2>/dev/null || true
    STORE_WAS=$(user_version)
    local file
    # An old version may be unable to read what a new one writes.
    while read -r file; do cp -a "$file" "$SAVED/"; done < <(store_files)
    switch_to "$NEW"
    SWITCHED=yes
    systemctl daemon-reload
    systemctl enable -q tilekeeper.service
    systemctl reset-failed tilekeeper.service 2>/dev/null || true
    if ! { systemctl start tilekeeper.service && sleep 5 && systemctl is-active -q tilekeeper.service; }; then
        journalctl -u tilekeeper.service -n 15 --no-pager -o cat || true
        [ "$WAS_ACTIVE" != active ] || return 1
        say "installed, but the table does not run yet. 'sudo tilekeeper doctor' gives the reason"
    fi
}

roll_back() {
    [ "$BASH_SUBSHELL" = 0 ] || exit 1 # the shell that waits for this one does it
    trap - ERR INT TERM
    set +e
    say "" >&2
    say "install.sh: it failed at: $STEP" >&2
    local kept path
    while read -r path; do
        kept=$SAVED$path
        if [ -e "$kept" ]; then cp -a "$kept" "$path"; elif [ -e "$kept.none" ]; then rm -f "$path"; fi
    done < <(cat "$BASE/files" 2>/dev/null)
    if [ -n "${SWITCHED:-}" ]; then
        systemctl stop tilekeeper.service
        if [ -n "$OLD" ]; then switch_to "$OLD"; else rm -f "$BASE/venv"; fi
        if [ "$(user_version)" != "$STORE_WAS" ] && [ -e "$SAVED/games.db" ]; then
            while read -r path; do rm -f "$path"; done < <(store_files)
            cp -a "$SAVED"/games.db* "$DATA/"
        fi
    fi
    if [ -n "${NAME_WAS:-}" ]; then
        if [ -n "$OLD" ] && [ -z "$NAME_LOST" ]; then
            "$SOURCE/systemd/host-name.sh" set "$NAME_WAS"
        else
            "$SOURCE/systemd/host-name.sh" restore
            [ -z "$NAME_LOST" ] || say "$NAME_WAS" >"$BASE/former-hostname" # the next upgrade still finds it lost
        fi
    fi
    [ -z "${NEW:-}" ] || rm -rf "$NEW"
    rm -rf "$SAVED"
    if booted; then
        systemctl daemon-reload
        ! command -v nmcli >/dev/null || nmcli connection reload
        [ -z "${WAS_ACTIVE:-}" ] || [ -z "$OLD" ] || systemctl start tilekeeper.service # start_version had stopped it
    fi
    if [ -n "$OLD" ]; then
        say "install.sh: nothing has changed. Version ${OLD##*/} continues" >&2
    else
        say "install.sh: nothing was installed. Existing games are untouched" >&2
    fi
    exit 1
}

name_machine() {
    if [ -z "$NAME" ]; then
        [ -z "$NAME_LOST" ] || rm -f "$BASE/former-hostname" # the former name was chosen now
        return 0
    fi
    local now
    now=$(name_now)
    [ "$now" != "$NAME" ] || [ -e "$BASE/former-hostname" ] || return 0
    [ "$now" = "$NAME" ] || NAME_WAS=$now
    "$BASE/host-name.sh" set "$NAME"
    [ "$now" != "$NAME" ] || return 0
    booted && systemctl try-restart avahi-daemon.service
    say "this machine is now called $NAME.local, also for ssh"
}

set_country() {
    [ -n "$COUNTRY" ] || return 0
    if command -v raspi-config >/dev/null; then
        raspi-config nonint do_wifi_country "$COUNTRY"
    else
        say "this system has no raspi-config. Set the country $COUNTRY in your network settings"
    fi
}

make_hotspot() {
    local keyfile=/etc/NetworkManager/system-connections/tilekeeper-hotspot.nmconnection about=$ETC/hotspot.toml
    if [ "$HOTSPOT" = no ] || ! command -v nmcli >/dev/null; then
        [ "$HOTSPOT" = no ] || say "this system has no NetworkManager, so the table has no Wi-Fi of its own (install.sh --hotspot adds it)"
        return 0
    fi
    if [ ! -e "$keyfile" ] || [ ! -e "$about" ]; then
        local new
        new=$(mktemp -d)
        "$SOURCE/systemd/make-hotspot.sh" "$new" "$PORT"
        put "$new$keyfile" "$keyfile" 600
        put "$new$about" "$about" 640
        chgrp "$PROGRAM" "$about"
        put "$new/etc/issue.d/tilekeeper.issue" /etc/issue.d/tilekeeper.issue
        rm -rf "$new"
        booted && nmcli connection reload
    fi
    say "if no known Wi-Fi is in range, join \"$(sed -n 's/^name = "\(.*\)"/\1/p' "$about")\"," \
        "password $(sed -n 's/^password = "\(.*\)"/\1/p' "$about"), then http://10.42.0.1:$PORT"
}

show_addresses() { # of the page, and the digits that pair the first phone
    local numbers code=''
    numbers=$(hostname -I 2>/dev/null | tr ' ' '\n' | sed -n '/\./{p;q}') # of IPv4, as the page names itself
    if booted && systemctl is-active -q tilekeeper.service; then # each start has digits of its own
        code=$(journalctl "_SYSTEMD_INVOCATION_ID=$(systemctl show --value -p InvocationID tilekeeper.service)" \
            --no-pager -o cat 2>/dev/null | sed -n 's/^.*type this code there: //p' | tail -n 1)
    fi
    say "page:     http://$(name_now).local:$PORT${numbers:+ or http://$numbers:$PORT}"
    [ -z "$code" ] || say "digits:   $code (to pair a phone on this page)"
}

forget_old_versions() { # the last one stays, to go back to by hand
    local version
    for version in "$BASE"/versions/*; do
        [ "$version" = "$NEW" ] || [ "$version" = "$OLD" ] || rm -rf "$version"
    done
    rm -rf "$SAVED"
}

main() {
    umask 022
    read_options "$@"
    check_machine
    ask_name
    OLD='' SAVED=$BASE/.saved STEP=''
    [ ! -L "$BASE/venv" ] || OLD=$(readlink -f "$BASE/venv")
    rm -rf "$SAVED"
    mkdir -p "$SAVED"
    trap roll_back ERR INT TERM

    step "packages of the system"
    install_packages
    step "the program"
    build_version
    step "user, rules, unit, settings"
    put_files
    step "checking the new version"
    check_version
    PORT=$("$NEW/bin/python" -I -c 'from pathlib import Path; from device.settings import load_settings
print(load_settings(Path("/etc/tilekeeper/settings.toml")).page.port)')
    # A table runs without name and Wi-Fi, so they may fail. They come first, because a table that runs keeps the name of the
    # machine with which it was started (ProtectHostname=), and reads the details of its own Wi-Fi only once.
    step "name and Wi-Fi"
    name_machine || say "the name could not be set"
    set_country || say "the country could not be set"
    make_hotspot || say "the table's own Wi-Fi could not be made"
    step "switching to it"
    start_version
    trap - ERR INT TERM
    forget_old_versions

    step "done: version ${NEW##*/}"
    show_addresses || say "page:     http://$(name_now).local:$PORT"
    say "settings: $ETC/settings.toml    games: $DATA"
    say "check:    sudo tilekeeper doctor"
}

main "$@"
