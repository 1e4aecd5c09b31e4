"""Services of the machine on which the table runs: systemd, Wi-Fi, speech output, periodic threads."""
