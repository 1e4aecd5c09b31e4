"""The machine that the table runs on: systemd, Wi-Fi, voice, periodic threads."""
