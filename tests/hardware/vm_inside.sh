#!/bin/sh
# Run by systemd inside of the virtual machine that vm.sh boots.
cd /opt/tilekeeper/source || exit 1
python=/opt/tilekeeper/venv/bin/python
echo "== $(uname -r), systemd $(systemctl --version | sed -n '1s/systemd \([0-9]*\).*/\1/p'), up $(cut -d' ' -f1 /proc/uptime) s"
modprobe -a gpio-sim configfs
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
echo "== the panel on gpio-sim"
$python tests/hardware/gpio_sim.py || echo "FAIL gpio_sim.py: status $?"
echo "== a USB camera that is unplugged (vivid)"
modprobe vivid n_devs=1 node_types=0x1 input_types=0
udevadm settle
$python tests/hardware/usb_vivid.py || echo "FAIL usb_vivid.py: status $?"
modprobe -r vivid
echo "== tilekeeper.service"
$python -m tests.hardware.vm_table || echo "FAIL vm_table.py: status $?"
systemctl poweroff
