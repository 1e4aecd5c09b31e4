#!/usr/bin/env bash
# Builds the Debian package for the release and architecture of the system it runs on.
#
#     sudo packaging/build-deb.sh [FOLDER]        default: dist
#
# Run it in a clean bookworm or trixie (a chroot or container) as root: it makes the virtual environment at its final
# place, /opt/tilekeeper/venv, moves it into the package, and leaves nothing there. It needs python3-venv, python3-pip,
# dpkg-dev and PyPI. The environment uses the system's packages, because libcamera and picamera2 come from apt alone.
#
# COMPRESSION (default xz) is that of dpkg-deb: gzip is quicker. VERSION replaces the version, for tests.
set -Eeuo pipefail

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=/opt/tilekeeper/venv

refuse() { printf 'build-deb.sh: %s\n' "$*" >&2; exit 2; }

make_environment() {
    local copy=$WORK/source
    mkdir "$copy" # pip writes into the folder that it builds
    cp -r "$SOURCE"/{pyproject.toml,setup.py,README.md,LICENSE,MANIFEST.in,engine,vision,calibration,device,web} "$copy"
    find "$copy" -name __pycache__ -prune -exec rm -rf {} +
    /usr/bin/python3 -m venv --system-site-packages --without-pip "$VENV"
    PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore /usr/bin/python3 -m pip --python "$VENV/bin/python" \
        install -q --no-compile --ignore-installed --constraint "$SOURCE/packaging/constraints-$PYTHON.txt" "${copy}[panel]"
    find "$VENV" -name __pycache__ -prune -exec rm -rf {} +
    find "$VENV/lib" -type f -exec chmod 644 {} + # wheels mark libraries and modules as programs
    rm -f "$VENV/.gitignore"
    mkdir -p "$STAGE/opt/tilekeeper"
    mv "$VENV" "$STAGE/opt/tilekeeper/venv"
    rmdir /opt/tilekeeper
}

put() { install -D -m "${3:-644}" "$1" "$STAGE$2"; }

put_files() {
    local systemd=$SOURCE/systemd doc=$STAGE/usr/share/doc/tilekeeper
    put "$systemd/tilekeeper.service" /usr/lib/systemd/system/tilekeeper.service
    put "$systemd/tilekeeper-first-start.service" /usr/lib/systemd/system/tilekeeper-first-start.service
    put "$systemd/tilekeeper.sysusers" /usr/lib/sysusers.d/tilekeeper.conf
    put "$systemd/tilekeeper.udev" /usr/lib/udev/rules.d/60-tilekeeper.rules
    put "$systemd/tilekeeper.polkit" /usr/share/polkit-1/rules.d/50-tilekeeper.rules
    put "$systemd/tilekeeper.journald" /usr/lib/systemd/journald.conf.d/tilekeeper.conf
    put "$systemd/tilekeeper.watchdog" /usr/lib/systemd/system.conf.d/tilekeeper.conf
    put "$systemd/host-name.sh" /opt/tilekeeper/host-name.sh 755
    put "$systemd/make-hotspot.sh" /opt/tilekeeper/make-hotspot.sh 755
    put "$SOURCE/packaging/tilekeeper.desktop" /usr/share/applications/tilekeeper.desktop
    put "$SOURCE/web/static/icon.svg" /usr/share/icons/hicolor/scalable/apps/tilekeeper.svg
    mkdir -p "$STAGE/usr/bin" "$doc"
    ln -s "$VENV/bin/tilekeeper" "$STAGE/usr/bin/tilekeeper"
    put "$SOURCE/packaging/lintian-overrides" /usr/share/lintian/overrides/tilekeeper
    /usr/bin/python3 "$SOURCE/packaging/copyright.py" "$(echo "$STAGE$VENV"/lib/python3.*/site-packages)" >"$doc/copyright"
    gzip -9n <"$SOURCE/CHANGELOG.md" >"$doc/CHANGELOG.md.gz"
    printf 'tilekeeper (%s) %s; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- %s  %s\n' "$VERSION" "$CODENAME" \
        "$MAINTAINER" "$(date -R -r "$SOURCE/CHANGELOG.md")" | gzip -9n >"$doc/changelog.gz"
}

put_control() {
    local script control=$STAGE/DEBIAN
    mkdir -p "$control"
    cat >"$control/control" <<TEXT
Package: tilekeeper
Version: $VERSION
Architecture: $(dpkg --print-architecture)
Maintainer: $MAINTAINER
Homepage: $(sed -n '/^Homepage = /s/.*"\(.*\)".*/\1/p' "$SOURCE/pyproject.toml")
Installed-Size: $(du -sk --exclude=DEBIAN "$STAGE" | cut -f1)
Section: misc
Priority: optional
Depends: python3 (>= $PYTHON), python3 (<< 3.$((${PYTHON#3.} + 1))~), libc6, libgomp1, systemd, debconf
Recommends: python3-picamera2, python3-libcamera, python3-lgpio, python3-spidev, avahi-daemon, network-manager, dnsmasq-base, nftables, iw, polkitd, espeak-ng, alsa-utils
Description: score keeper of a Scrabble table
 A camera above a real board reads the tiles after each turn. The program
 infers and scores the play, flags words that are not in the word list, and
 shows the totals on a web page and on a panel of buttons and lights.
TEXT
    for script in preinst postinst prerm postrm templates; do
        install -m 755 "$SOURCE/packaging/$script" "$control/$script"
    done
    chmod 644 "$control/templates"
}

main() {
    [ "$(id -u)" = 0 ] || refuse "this needs root: sudo $0"
    [ ! -e /opt/tilekeeper ] || refuse "/opt/tilekeeper is there: build in a clean system"
    umask 022
    local output
    output=$(realpath -m "${1:-dist}")
    CODENAME=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    [ -n "${VERSION:-}" ] || VERSION=$(sed -n '/^version = /{s/.*"\(.*\)".*/\1/p;q}' "$SOURCE/pyproject.toml")
    VERSION=$VERSION~$CODENAME
    PYTHON=$(/usr/bin/python3 -c 'import sys; print("{}.{}".format(*sys.version_info))')
    MAINTAINER=$(sed -n '/^maintainers = /s/.*name = "\(.*\)", email = "\(.*\)".*/\1 <\2>/p' "$SOURCE/pyproject.toml")
    WORK=$(mktemp -d)
    STAGE=$WORK/package
    trap 'rm -rf "$WORK" "$VENV"' EXIT
    mkdir -p "$output" "$STAGE"
    make_environment
    put_files
    put_control
    # GitHub replaces "~" in the name of a release's file, which would no longer be that of its checksum.
    dpkg-deb --root-owner-group -Z"${COMPRESSION:-xz}" --build "$STAGE" \
        "$output/tilekeeper_${VERSION//\~/.}_$(dpkg --print-architecture).deb"
}

main "$@"
