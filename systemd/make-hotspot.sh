#!/usr/bin/env bash
# Writes the Wi-Fi that the table opens where no known one is in reach, with a name and password of its own.
#
#     sudo /opt/tilekeeper/make-hotspot.sh FOLDER PORT
#
# FOLDER is empty for the running system, or a folder whose files an installer puts into place. PORT is that of the page.
# On the card image, boot/firmware/tilekeeper-wifi.txt can choose name and password; the script writes there what it made, so
# that a table without a screen can be joined: any computer can read this file on the card.
set -euo pipefail

folder=${1?the root folder}
port=${2:?the port of the page}

random_text() { # random_text LENGTH: without characters that are mistaken for others
    head -c 4096 /dev/urandom | LC_ALL=C tr -dc 'abcdefghjkmnpqrstuvwxyz23456789' | head -c "$1"
}

write() { # write PATH MODE [GROUP]: from standard input, on the card completely or not at all
    local path=$folder$1
    local new=${path%/*}/.${path##*/}
    install -D -m "$2" /dev/null "$new"
    cat >"$new"
    [ -z "${3:-}" ] || chgrp "$3" "$new"
    sync "$new"
    mv "$new" "$path"
}

chosen() { # chosen KEY PATTERN: the value in the card's file, if it has only characters that all files below can hold
    [ ! -e "$card_file" ] || sed -nE "/^$1 *= *($2)[[:space:]]*$/{s//\1/p;q}" "$card_file"
}

card_file=$folder/boot/firmware/tilekeeper-wifi.txt
name=$(chosen name '[A-Za-z0-9_-]{1,32}')
password=$(chosen password '[A-Za-z0-9_-]{8,63}')
name=${name:-Tilekeeper-$(random_text 4)}
password=${password:-$(random_text 10)}
# Priority -10: only where no known network is in reach. "shared": addresses and names for the phones. Protected management
# frames are switched off: the Pi's radio cannot install their key, so that no phone gets in (raspberrypi/linux 3619, 7247).
nmcli --offline connection add type wifi con-name tilekeeper-hotspot ifname wlan0 ssid "$name" \
    connection.autoconnect yes connection.autoconnect-priority -10 connection.autoconnect-retries 0 \
    802-11-wireless.mode ap 802-11-wireless.band bg \
    802-11-wireless-security.key-mgmt wpa-psk 802-11-wireless-security.proto rsn \
    802-11-wireless-security.pairwise ccmp 802-11-wireless-security.psk "$password" \
    802-11-wireless-security.pmf disable \
    ipv4.method shared ipv4.addresses 10.42.0.1/24 ipv6.method disabled |
    write /etc/NetworkManager/system-connections/tilekeeper-hotspot.nmconnection 600
printf '\\e{bold}Tilekeeper\\e{reset}: http://\\n.local:%s or http://\\4:%s\nWithout a known Wi-Fi: join "%s", password %s, then http://10.42.0.1:%s\n\n' \
    "$port" "$port" "$name" "$password" "$port" | write /etc/issue.d/tilekeeper.issue 644
if [ -e "$card_file" ]; then
    cat >"$card_file" <<TEXT
# The Wi-Fi that this table opens where no known one is in reach. Changes here have no effect any more.
name = $name
password = $password
page = http://10.42.0.1:$port
TEXT
    sync "$card_file" # the card may be taken out as soon as the lights rest
fi
# At last: while this file is missing, the first start is repeated.
write /etc/tilekeeper/hotspot.toml 640 tilekeeper <<TEXT
# The Wi-Fi that this table opens where no known one is in reach. Made by make-hotspot.sh.
name = "$name"
password = "$password"
address = "10.42.0.1"
TEXT
