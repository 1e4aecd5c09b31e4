# shellcheck shell=bash
# Sourced by the scripts that run programs for arm64 on another processor, with qemu-user-static.

# A Raspberry Pi 4's. The imaginary core that qemu 7.2 takes otherwise gets the networks' sums wrong: boards are misread.
EMULATED_CORE=cortex-a72
export EMULATED_CORE

register_emulator() { # F: the interpreter is opened now, so that it is found from inside a root
    mountpoint -q /proc/sys/fs/binfmt_misc || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
    [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || printf '%s' ':qemu-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64-static:F' \
        >/proc/sys/fs/binfmt_misc/register
}
