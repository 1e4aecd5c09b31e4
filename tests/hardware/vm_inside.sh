#!/bin/sh
# Run by systemd inside of the virtual machine that vm.sh boots. The kernel's command line says which parts.
cd /opt/tilekeeper/source || exit 1
python=/opt/tilekeeper/venv/bin/python
part() { grep -q "tilekeeper.parts=[a-z,]*$1" /proc/cmdline && echo "== $1, up $(cut -d' ' -f1 /proc/uptime) s"; }
printf "\n%s\n" "== $(uname -r), systemd $(systemctl --version | sed -n '1s/systemd \([0-9]*\).*/\1/p'), up $(cut -d' ' -f1 /proc/uptime) s"
modprobe -a gpio-sim configfs
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
if part late; then # first: no driver of a camera is loaded yet
    $python -m tests.hardware.late_camera || echo "FAIL late_camera.py: status $?"
fi
if part usb; then
    modprobe vivid n_devs=1 node_types=0x1 input_types=0
    udevadm settle
    $python tests/hardware/usb_vivid.py || echo "FAIL usb_vivid.py: status $?"
    modprobe -r vivid
fi
if part panel; then
    $python tests/hardware/gpio_sim.py || echo "FAIL gpio_sim.py: status $?"
fi
if part service; then
    $python -m tests.hardware.vm_table || echo "FAIL vm_table.py: status $?"
fi
echo "== end, up $(cut -d' ' -f1 /proc/uptime) s"
systemctl poweroff
