#!/bin/bash
# Run inside of the virtual machine of image_boot.sh: three radios that hear each other (mac80211_hwsim). wlan0 is the
# table's, wlan1 that of a phone, wlan2 that of a home's router; phone and router have network namespaces of their own.
#
#     image_radios.sh air        radios, cable and router
#     image_radios.sh phone      the phone, which reads the Wi-Fi's password on the card, as its owner does
set -eu

home=192.168.77
case $1 in
air)
    modprobe -a virtio_net
    modprobe mac80211_hwsim radios=3
    until [ -e /sys/class/net/eth0 ] && [ -e /sys/class/net/wlan2 ]; do sleep 0.2; done
    ip link set eth0 up
    ip addr add 10.0.2.15/24 dev eth0
    for name in phone home; do ip netns add "$name"; done
    iw phy phy1 set netns name phone
    iw phy phy2 set netns name home
    ip -n home addr add "$home.1/24" dev wlan2
    ip -n home link set lo up
    cat >/run/home.conf <<'END'
interface=wlan2
ssid=Home
hw_mode=g
channel=1
wpa=2
wpa_key_mgmt=WPA-PSK
rsn_pairwise=CCMP
wpa_passphrase=home-and-dry
END
    ip netns exec home hostapd -B /run/home.conf
    # The router knows the table by its address.
    ip netns exec home dnsmasq --conf-file=/dev/null --port=0 --interface=wlan2 --dhcp-range="$home.50,$home.99" \
        --dhcp-host="$(cat /sys/class/net/wlan0/address),$home.20" --dhcp-leasefile=/run/home.leases --pid-file=/run/home.pid
    ;;
phone)
    setting() { sed -n "s/^$1 = //p" /boot/firmware/tilekeeper-wifi.txt; }
    wpa() { ip netns exec phone wpa_cli -p /run/phone -i wlan1 "$@"; }
    is_connected() { wpa status | grep -q '^wpa_state=COMPLETED'; }
    cat >/run/phone.conf <<END
ctrl_interface=/run/phone
network={
    ssid="$(setting name)"
    psk="$(setting password)"
}
network={
    ssid="Home"
    psk="home-and-dry"
    disabled=1
}
END
    ip netns exec phone wpa_supplicant -B -i wlan1 -c /run/phone.conf
    ip netns exec phone dhcpcd --quiet --background wlan1
    # The player joins the home's Wi-Fi when that of the table is gone.
    (
        until is_connected; do sleep 1; done
        while is_connected; do sleep 1; done
        wpa enable_network 1
        pkill -f 'socat STDIO' # a phone drops its connections when it changes the Wi-Fi
    ) &
    socat TCP-LISTEN:8081,fork,reuseaddr EXEC:/srv/image_reach.sh &
    ;;
esac
