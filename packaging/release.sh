#!/usr/bin/env bash
# Makes the files of a release, which the workflow "release" attaches to it when a tag is pushed (docs/release.md).
#
#     packaging/release.sh check [TAG]         address, version, changelog and tag fit
#     packaging/release.sh files FOLDER        wheel, sdist, recipe of the card image, constraints, notes, version.txt
#     packaging/release.sh packages FOLDER     the Debian packages, each in a fresh Debian; as root (package_build.sh)
#     packaging/release.sh container FOLDER    the container for this machine's architecture, with podman; BASE names its base
#     packaging/release.sh sums FOLDER         SHA256SUMS of all files
#     packaging/release.sh all FOLDER          all of these; PACKAGES chooses packages (default: the four below)
#     packaging/release.sh url                 print the address where the files will be
#
# TRIAL=1 allows an address below .example. Equal commits give equal wheels.
set -euo pipefail

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
step=${1:-}
PACKAGES=${PACKAGES:-bookworm:amd64 bookworm:arm64 trixie:amd64 trixie:arm64}

refuse() { printf 'release.sh: %s\n' "$*" >&2; exit 2; }
read_project() { sed -n "/^$1 = /{s/.*\"\\(.*\\)\".*/\\1/p;q}" "$tree/pyproject.toml"; }
version=$(read_project version)
address=$(read_project Homepage)

check() {
    [ -n "${TRIAL:-}" ] || ! grep -q '^[^#].*\.example"' "$tree/pyproject.toml" ||
        refuse "enter the addresses of the project and its maintainers in pyproject.toml"
    [ -z "${1:-}" ] || [ "$1" = "v$version" ] || refuse "the tag $1 is not that of version $version in pyproject.toml"
    python3 "$tree/packaging/changelog_section.py" "$version" >/dev/null
}

make_files() {
    local work
    work=$(mktemp -d)
    umask 022 # the modes of files are in the wheel
    git -C "$tree" archive HEAD | tar -x --no-same-owner -C "$work"
    SOURCE_DATE_EPOCH=$(git -C "$tree" log -1 --format=%ct)
    export SOURCE_DATE_EPOCH PIP_DISABLE_PIP_VERSION_CHECK=1
    python3 -m venv "$work/.venv"
    "$work/.venv/bin/pip" install -q build
    "$work/.venv/bin/python" -m build --outdir "$1" "$work" >"$1/build.log" || { cat "$1/build.log"; exit 1; }
    git -C "$tree" archive --prefix="tilekeeper-image-$version/" -o "$1/tilekeeper-image-$version.tar.gz" HEAD packaging/image
    cp "$work"/packaging/constraints-3.*.txt "$1"
    echo "$version" >"$1/version.txt"
    python3 "$work/packaging/changelog_section.py" "$version" >"$1/notes.md"
    rm -rf "$work" "$1/build.log"
}

make_packages() {
    local package
    for package in $PACKAGES; do
        "$tree/tests/hardware/package_build.sh" "${package%:*}" "${package#*:}" "$1"
    done
}

make_container() {
    podman build ${BASE:+--build-arg "BASE=$BASE"} --file "$tree/packaging/Containerfile" --tag "tilekeeper:$version" "$tree"
    podman run --rm --read-only "tilekeeper:$version" doctor --program
    podman save "tilekeeper:$version" | gzip -n >"$1/tilekeeper-container-$version-$(dpkg --print-architecture).tar.gz"
}

make_sums() { (cd "$1" && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS); }

case $step in
    check) check "${2:-}"; exit ;;
    url) echo "$address/releases/download/v$version"; exit ;;
    files | packages | container | sums | all) ;;
    *) refuse "choose a step: check, files, packages, container, sums, all or url" ;;
esac
mkdir -p "${2:?the folder for the files}"
folder=$(realpath "$2")
case $step in
    all)
        check
        make_files "$folder"
        make_packages "$folder"
        make_container "$folder"
        make_sums "$folder"
        ;;
    *) "make_$step" "$folder" ;;
esac
