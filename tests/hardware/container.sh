#!/bin/bash
# Tries the hardened service under real systemd in a container: with camera, store and page, its watchdog, the rule for
# power off. It has no pins; vm.sh has. One minute, three on a busy machine.
#
#     sudo tests/hardware/container.sh [ROOT [COMMIT]]
#
# It needs what make_root.sh and container_boot.sh need. Nothing of this machine is changed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=${1:-/var/tmp/tk-roots/amd64}

sh "$here/make_root.sh" "$root"
sh "$here/put_program.sh" "$@"
sh "$here/put_service.sh" "$root"
scratch=$(mktemp -d "$root.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# Here the kernel may have no dma-heaps; the unit is otherwise as it is shipped.
unit=$scratch/upper/etc/systemd/system/tilekeeper.service.d
mkdir -p "$unit"
printf '[Service]\nEnvironment=LD_PRELOAD=/opt/tilekeeper/dma_standin.so\n' >"$unit/container.conf"
rm -f "$root/etc/systemd/system/tilekeeper.service.d/vm.conf" # vm.sh's
"$here/container_boot.sh" "$root" "$scratch" /opt/tilekeeper/venv/bin/python -m tests.hardware.vm_table page
! grep -q '^FAIL' "$scratch/upper/result" && grep -q '^all right' "$scratch/upper/result"
