#!/bin/sh
# Runs the proofs without a Raspberry Pi one after another, each with a log of its own, and says how each ended.
#
#     sudo tests/hardware/all.sh [SCRIPT...]    default: all that are named below
#
# What each needs stands in its head; arm64_root needs the project in .venv, too. Roots and logs are kept in $ROOTS
# (default: /var/tmp/tk-roots): about 10 GB and, the first time, two hours. Status 0: everything is as it should be.
set -u
here=$(cd "$(dirname "$0")" && pwd)
roots=${ROOTS:-/var/tmp/tk-roots}
commit=$(git -C "$here" rev-parse HEAD) || exit 1
mkdir -p "$roots/logs"
[ $# -gt 0 ] || set -- picamera2_root container container_image cloud_init booted_install late_device vm arm64_root

failed=''
for script in "$@"; do
    began=$(date +%s)
    log=$roots/logs/$script.log
    case $script in
        container_image) ROOTS=$roots bash "$here/$script.sh" >"$log" 2>&1 ;;
        late_device) bash "$here/$script.sh" "$roots/amd64" >"$log" 2>&1 ;;
        cloud_init) bash "$here/$script.sh" "$roots/cloud" >"$log" 2>&1 ;;
        arm64_root) bash "$here/$script.sh" "$roots/arm64" >"$log" 2>&1 ;;
        container | booted_install) bash "$here/$script.sh" "$roots/amd64" "$commit" >"$log" 2>&1 ;;
        *) sh "$here/$script.sh" "$roots/amd64" "$commit" >"$log" 2>&1 ;;
    esac
    status=$?
    [ $status -eq 0 ] || failed="$failed $script"
    echo "$script: status $status after $((($(date +%s) - began) / 60)) minutes; $(grep -c '^ok' "$log") ok, $(grep -c '^FAIL' "$log") failed; $log"
    [ $status -eq 0 ] || tail -n 40 "$log"
done
[ -z "$failed" ]
