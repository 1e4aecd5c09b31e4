"""Checks of the machine (power, date, disk, network, pins, camera) and of the program (settings, libraries, words)."""

from __future__ import annotations

import importlib
import os
import platform
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from device.cameras.listing import hide_credentials, list_cameras, resolve_camera
from device.doctor.system import (
    SERVICE_USER,
    Finding,
    Subject,
    System,
    check_access,
    find_reinstall_remedy,
    is_closed_to_service,
    is_package_installed,
    is_service_installed,
    read_service_state,
    read_unit,
)
from device.panel.gpio import GpioUnavailableError
from device.settings import (
    SERVICE_DATA_FOLDER,
    SYSTEM_SETTINGS_FILE,
    Settings,
    SettingsError,
    find_user_folder,
    find_user_settings_file,
    load_settings,
)
from device.storage.lexicons import find_cache_folder
from device.system.new_version import find_installed_version, find_newer_version, find_program_version
from device.system.voice import list_device_options
from device.system.wifi import HOTSPOT_CONNECTION, HotspotError, read_hotspot

if TYPE_CHECKING:
    from device.cameras.base import Image


MIN_FREE_BYTES = 300_000_000
"""Least free space in bytes. A game with its pictures takes about ten million bytes."""
_UNDER_VOLTAGE, _SINCE_START_SHIFT = 1, 16
"""Bit of `vcgencmd get_throttled` (raspberrypi.com/documentation, "vcgencmd"), and the distance to the bit of the same
problem since the start."""
_CARD_ERRORS = re.compile(r"mmc\d.*(error -|timeout|timed out)|I/O error.*mmcblk|EXT4-fs error", re.IGNORECASE)
_UNIT_DATA = re.compile(r"(?m)^ExecStart=.*\s--data[ =](\S+)")
"""Pattern of the folder of the games in the unit of the service. There, the option replaces `data.folder`."""


def check_power(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check the firmware's flags of under-voltage."""
    subject = Subject("power")
    bits = re.search(r"throttled=0x([0-9a-fA-F]+)", system.ask("vcgencmd", "get_throttled"))
    if bits is None:
        return
    now, before = int(bits[1], 16), int(bits[1], 16) >> _SINCE_START_SHIFT
    remedy = "use the Raspberry Pi's own power supply and a short cable (5 V 3 A; a Pi 5: 5 V 5 A)"
    if now & _UNDER_VOLTAGE:
        yield subject.fault("the voltage is too low now: the table may stop, or the card may be damaged", remedy)
    elif before & _UNDER_VOLTAGE:
        yield subject.warning("the voltage was too low at times since the start", remedy)
    else:
        yield subject.good("the voltage is right")


def check_clock(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that the machine's clock is synchronised. A wrong clock only makes the dates of games wrong."""
    if system.ask("timedatectl", "show", "--property=NTPSynchronized", "--value") == "no":
        text = "not set by the network: games keep their order, but may show a wrong date"
        yield Subject("date").note(text, "connect the table to the internet once, or: sudo timedatectl set-time ...")


def check_disk(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that games can be stored: folder, permissions, file system, free space, errors of the card."""
    subject = Subject("games")
    folder = find_data_folder(system, settings)
    if not system.path(folder).is_dir():
        if is_service_installed(system):
            yield subject.fault(f"{folder} is missing", "sudo systemctl restart tilekeeper")
        return
    yield from _check_file_system(system, subject, folder)
    yield from _check_writable(system, subject, folder)
    free = system.measure_free_bytes(folder)
    text = f"{free // 1_000_000:,} MB are free in {folder}"
    remedy = "sudo apt-get clean && sudo journalctl --vacuum-size=20M, or delete games on the page"
    if free < MIN_FREE_BYTES:
        yield subject.fault(f"{text}: soon no turn can be saved", remedy)
    else:
        yield subject.good(text)
    log = system.ask("journalctl", "--dmesg", "--boot", "--no-pager", "--output=cat")
    if errors := [line.strip() for line in log.splitlines() if _CARD_ERRORS.search(line)]:
        remedy = "save the games (tilekeeper backup FILE), then write a new card (A1 or A2, 16 GB or more)"
        yield Subject("card").warning(f"the kernel reports errors: {errors[-1]}", remedy)


def find_data_folder(system: System, settings: Settings) -> Path:
    """Return the folder of the stored games, as a path on the examined machine (without `System.root`).

    If the service is installed, this is the folder that its unit names; the service does not use `data.folder`.
    Raises `HomeFolderError`.
    """
    if named := _UNIT_DATA.search(read_unit(system)):
        return Path(named[1])
    if settings.data.folder is not None:
        return settings.data.folder
    return SERVICE_DATA_FOLDER if is_service_installed(system) else find_user_folder()


def _check_file_system(system: System, subject: Subject, folder: Path) -> Iterator[Finding]:
    """Check that the file system of the folder can be written, and that its files outlast a power cut."""
    columns = ("--noheadings", "--output", "FSTYPE,OPTIONS,TARGET", "--target", str(folder))
    kind, options, mount = (*system.ask("findmnt", *columns).split(maxsplit=2), "", "", "")[:3]
    if "ro" in options.split(","):
        yield subject.fault(
            f"{folder} is mounted read-only, as the kernel does after errors: no turn can be saved",
            f"sudo mount -o remount,rw {shlex.quote(mount)}; if it becomes read-only again, save the games (tilekeeper "
            "backup FILE) and write a new card",
        )
    if kind in ("overlay", "tmpfs"):
        yield subject.fault(
            f"{folder} is in memory ({kind}): every game is lost when the power goes off",
            "sudo raspi-config nonint do_overlayfs 1 && sudo reboot, or mount a partition there",
        )


def _check_writable(system: System, subject: Subject, folder: Path) -> Iterator[Finding]:
    """Check that the service may write to the folder and to what is in it: a copy made with sudo belongs to root."""
    path = system.path(folder)
    if not os.access(path, os.R_OK | os.X_OK):
        yield subject.note(f"{folder} cannot be opened", "sudo tilekeeper doctor")
        return
    paths = (folder, *(folder / entry.name for entry in path.iterdir()))
    if closed := next((one for one in paths if is_closed_to_service(system, one, "w")), None):
        remedy = f"sudo chown -R {SERVICE_USER}: {shlex.quote(str(folder))} && sudo systemctl restart tilekeeper"
        yield subject.fault(f"the table cannot write to {closed}", remedy)


OWN_NAME = "tilekeeper"
"""Name of the process of a running table, as `ss` shows it."""


def check_wifi(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that the machine is connected to a network, by Wi-Fi or by cable."""
    subject = Subject("wi-fi")
    addresses = system.ask("hostname", "-I")
    if re.search(r"\bblocked", system.ask("rfkill", "--noheadings", "--output", "SOFT,HARD", "list", "wifi")):
        yield subject.fault(
            "it is switched off: on a Raspberry Pi the country must be set first",
            "sudo raspi-config nonint do_wifi_country DE (your country), then: sudo rfkill unblock wifi",
        )
    elif addresses:
        yield subject.good(f"connected: {addresses}")
    else:
        yield subject.fault("neither Wi-Fi nor cable is connected", "sudo nmtui, to join a network; or plug in a cable")


def check_hotspot(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the table's own hotspot, for places without a known Wi-Fi, is set up."""
    subject = Subject("own wi-fi")
    if not system.glob("/sys/class/net/*/wireless"):
        return
    file = system.path("/etc/tilekeeper/hotspot.toml")
    if file.exists() and not os.access(file, os.R_OK):
        yield subject.note("its name and password cannot be read", "sudo tilekeeper doctor")
        return
    remedy = _find_hotspot_remedy(system, settings.page.port)
    try:
        hotspot = read_hotspot(file)
    except HotspotError as error:
        yield subject.warning(str(error), f"sudo rm /etc/tilekeeper/hotspot.toml, then {remedy}")
        return
    connections = system.ask("nmcli", "--get-values", "NAME", "connection", "show").splitlines()
    if hotspot is None or (connections and HOTSPOT_CONNECTION not in connections):
        text = "none is set up in NetworkManager: away from home, phones cannot reach the table"
        yield subject.warning(text, f"sudo rm -f /etc/tilekeeper/hotspot.toml, then {remedy}")
    elif (states := _list_wifi_states(system)) and "connected" not in states:
        yield subject.warning(
            f"neither a known network nor {hotspot.name} is open",
            f"sudo nmcli connection up {HOTSPOT_CONNECTION}, then find the reason in: journalctl -b -u NetworkManager",
        )
    else:
        yield subject.good(f"{hotspot.name}, used if no known network is in range")


def _find_hotspot_remedy(system: System, port: int) -> str:
    """Return the shell command that sets up the table's own Wi-Fi, which is open where no known Wi-Fi is in range.

    It depends on how the program was installed. `port` is the port of the page.
    """
    if is_package_installed(system):
        return (
            "sudo apt install network-manager dnsmasq-base nftables iw && "
            f'sudo /opt/tilekeeper/make-hotspot.sh "" {port} && sudo nmcli connection reload && '
            "sudo systemctl restart tilekeeper"
        )
    return "sudo ./systemd/install.sh --hotspot in the folder of Tilekeeper"


def _list_wifi_states(system: System) -> tuple[str, ...]:
    """Return the states of the Wi-Fi devices, such as `connected`; empty if they are not known."""
    devices = system.ask("nmcli", "--get-values", "TYPE,STATE", "device").splitlines()
    return tuple(line.removeprefix("wifi:") for line in devices if line.startswith("wifi:"))


def check_host_name(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that phones can resolve the host name with mDNS (Avahi)."""
    subject = Subject("name")
    host = system.read_text("/etc/hostname") or "this machine"
    if system.ask("systemctl", "is-active", "avahi-daemon.service") in ("", "active"):  # empty: no systemd
        yield subject.good(f"{host}.local")
    else:
        remedy = "sudo apt install avahi-daemon && sudo systemctl enable --now avahi-daemon"
        yield subject.warning(f"{host}.local cannot be found: avahi-daemon is not running", remedy)


def check_ports(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the ports of the page are free, or in use by the running table itself.

    Without the port of https, the table works, so its finding is only a warning.
    """
    subject, page = Subject("page"), settings.page
    users = {port: _find_port_user(system, port) for port in (page.port, page.secure_port)}
    remedy = "stop that program, or set another page.port or page.secure_port in the settings file"
    if users[page.port] in ("", OWN_NAME):
        yield subject.good(f"port {page.port} is {'in use by the table' if users[page.port] else 'free'}")
    else:
        yield subject.fault(f"port {page.port} is used by {users[page.port]}", remedy)
    if users[page.secure_port] not in ("", OWN_NAME):
        yield subject.warning(f"no https: port {page.secure_port} is used by {users[page.secure_port]}", remedy)


def _find_port_user(system: System, port: int) -> str:
    """Return the name of the program that listens on a port; empty if the port is free.

    Only root sees the programs of other users. Without a name, a running table is assumed to have the port.
    """
    listener = system.ask("ss", "-Hltnp", f"sport = :{port}")
    if found := re.search(r'users:\(\("([^"]+)"', listener):
        return found[1]
    unknown = OWN_NAME if read_service_state(system) == "active" else "another program"
    return unknown if listener else ""


OWN_LINE_USERS = frozenset({"lg", "tilekeeper"})
"""Names, as in `gpioinfo`, under which the running table itself uses GPIO lines."""


def check_panel(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the GPIO lines in the settings exist, and that the service can use them."""
    subject = Subject("pins")
    if not settings.panel.use:
        return
    if not system.glob("/dev/gpiochip*"):
        text = "this machine has no pins: use the buttons on the page"
        yield subject.note(text, "panel.use = false in the settings file")
        return
    yield from check_access(system, subject, "/dev/gpiochip*", "gpio")
    try:
        yield from _check_pins(system, subject, settings)
    except ImportError:
        yield subject.warning("lgpio is not installed: no buttons and lights", "sudo apt install python3-lgpio")
    except GpioUnavailableError as error:
        yield subject.warning(str(error), "sudo tilekeeper doctor; or panel.use = false in the settings file")


def _check_pins(system: System, subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Check that no other program uses the GPIO lines. Raises ImportError and `GpioUnavailableError`."""
    wanted = {pin: name for name, pin in settings.panel.pins.list_wired_pins()}
    own = OWN_LINE_USERS if read_service_state(system) == "active" else frozenset()
    users = system.read_line_users()
    taken = {pin: user for pin in wanted if (user := users.get(pin, "")) and user not in own}
    for pin, user in taken.items():
        remedy = "set another pin in the settings file, or switch off what uses it (/boot/firmware/config.txt)"
        yield subject.warning(f"GPIO {pin} ({wanted[pin]}) is used by '{user}'", remedy)
    if not taken:
        yield subject.good(f"all {len(wanted)} are available")


_PHONES, _FOLDER = ("phone", "phone-stream"), "folder:"
MIN_BRIGHTNESS = 40.0
"""Least mean brightness (0 to 255) of a good picture."""
OVEREXPOSED_LEVEL, MAX_OVEREXPOSED_SHARE = 250, 0.04
"""Lowest grey level of an overexposed pixel (`OVEREXPOSED_LEVEL`), and maximum share (0..1) of overexposed pixels on
the board (`MAX_OVEREXPOSED_SHARE`); a higher share counts as glare."""
GOOD_SQUARE_PX = 32.0
"""Sufficient size of squares in pixels; larger squares do not improve readings. Letters are read at 28 pixels
(docs/reading.md)."""
MIN_SQUARE_PX = 24.0
"""Minimum size of squares in pixels; letters on smaller ones are often confused."""
MIN_CONFIDENCE = 0.9
"""Minimum confidence of the reading of a square; if it is lower, the square counts as doubtful."""


def check_camera(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that the service may use the camera, or that the folder of pictures exists."""
    subject, source = Subject("camera"), resolve_camera(settings.camera.source)
    if source != settings.camera.source and source in _PHONES:
        yield subject.note("no camera module was found, so phones take the pictures")
    elif source in _PHONES:
        yield subject.good("paired phones take the pictures")
    elif source.startswith(_FOLDER):
        yield _check_folder(system, subject, Path(source.removeprefix(_FOLDER)).expanduser())
    else:
        for pattern in ("/dev/video*", "/dev/media*", "/dev/dma_heap/*"):
            yield from check_access(system, subject, pattern, "video")


def _check_folder(system: System, subject: Subject, folder: Path) -> Finding:
    remedy = "sudo install -d -m 2777 /var/lib/tilekeeper-pictures, and set camera.source to it"
    if not system.path(folder).is_dir():
        return subject.fault(f"there is no folder {folder}", remedy)
    if is_closed_to_service(system, folder, "r"):
        return subject.fault(f"the table may not read the folder {folder}", remedy)
    return subject.good(f"pictures come from the folder {folder}")


def check_picture(system: System, settings: Settings) -> Iterator[Finding]:
    """Take a picture and check it, unless the running table uses the camera."""
    from device.cameras.base import CameraError

    subject, source = Subject("camera"), resolve_camera(settings.camera.source)
    if source in _PHONES or source.startswith(_FOLDER):
        return
    if read_service_state(system) in ("active", "activating"):
        remedy = "sudo systemctl stop tilekeeper; sudo tilekeeper doctor; sudo systemctl start tilekeeper"
        yield subject.note("the running table is using it, so its picture was not checked", remedy)
        return
    try:
        image = system.take_picture(source)
    except CameraError as error:
        connected = [camera.source for camera in list_cameras(system.root) if camera.name]
        remedy = f"set camera.source in the settings file; connected: {', '.join(connected) or 'no camera'}"
        yield subject.fault(str(error), f"{remedy}; then: sudo systemctl restart tilekeeper")
        return
    yield subject.good(f"{hide_credentials(source)} takes pictures")
    yield from _check_image(image, settings)


def _check_image(image: Image, settings: Settings) -> Iterator[Finding]:
    """Check light, focus and board size in one picture, `(H, W, 3) uint8 BGR`."""
    import cv2

    from engine.tiles import load_tile_set
    from vision.focus import is_blurred
    from vision.geometry import homography, rectify, square_side
    from vision.recognition.reader import BoardReader

    light, board = Subject("light"), Subject("board")
    mean = float(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).mean())
    if mean < MIN_BRIGHTNESS:
        yield light.warning(f"the picture is dark ({mean:.0f} of 255)", "light the board with a lamp from the side")
    reading = BoardReader().read(image, load_tile_set(settings.game.tiles).letters)
    if reading.corners is None:
        remedy = "put the board under the camera with all four edges in view, then run this again"
        yield board.warning("there is no board in the picture", remedy)
        return
    side = square_side(reading.corners)
    size = f"{side:.0f} pixels per square"
    if side < MIN_SQUARE_PX:
        remedy = "move the camera closer to the board (docs/parts.md has a table of heights)"
        yield board.warning(f"it is small in the picture: {size}, but {GOOD_SQUARE_PX:.0f} are good", remedy)
    if is_blurred(image, reading.corners):
        remedy = "turn the lens (a module 3 focuses by itself: clean it, wait 3 s)"
        yield Subject("focus").warning("the picture is blurred", remedy)
    flat = cv2.cvtColor(rectify(image, homography(reading.corners), round(side)), cv2.COLOR_BGR2GRAY)
    if (flat >= OVEREXPOSED_LEVEL).mean() > MAX_OVEREXPOSED_SHARE:
        remedy = "move the lamp to the side, or put something thin and white in front of it"
        yield light.warning("a lamp is reflected on the board", remedy)
    if reading.board is not None:
        doubtful = sum(square.confidence < MIN_CONFIDENCE for square in reading.board.squares)
        yield board.good(f"found, {size}; {doubtful} of 225 squares are uncertain")
    yield from map(board.note, reading.problems)


_LIBRARIES = (
    "numpy", "opencv-python-headless", "opencv-python", "onnxruntime", "flask", "uvicorn", "picamera2", "lgpio",
)  # fmt: skip
"""Distributions (names on PyPI) whose versions matter in a report of a fault."""


def load_settings_or_defaults(system: System, named: Path | None) -> tuple[Settings, Finding]:
    """Return the settings and a finding about the settings file.

    If the file is missing or invalid, the default settings are returned. `named` is a file named by the user, or None.
    """
    subject = Subject("settings")
    path = named or system.path(SYSTEM_SETTINGS_FILE)
    if named is None and path == SYSTEM_SETTINGS_FILE and not path.exists():
        path = find_user_settings_file()  # run from a checkout, without an installed service
    if named is None and not path.exists():
        return Settings(), subject.note(f"there is no {SYSTEM_SETTINGS_FILE}: the defaults are used")
    try:
        return load_settings(path), subject.good(f"{path} has no mistakes")
    except SettingsError as error:
        return Settings(), subject.fault(str(error), f"sudo nano {path}")


def check_libraries(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that the program can be imported with all its libraries: an installed library may fail to load."""
    try:
        importlib.import_module("device.cli.appliance")  # by name, because it imports the doctor
    except (ImportError, OSError) as error:
        text = " ".join(f"the program cannot be loaded: {error}".split())
        yield Subject("libraries").fault(text, find_reinstall_remedy(system))


def check_networks(system: System, _settings: Settings) -> Iterator[Finding]:
    """Check that the neural networks can be loaded."""
    from vision.net import ModelError
    from vision.recognition.reader import BoardReader

    try:
        BoardReader()
    except ModelError as error:
        yield Subject("networks").fault(str(error), find_reinstall_remedy(system))


def check_word_list(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that a word list is available for the tile set in the settings."""
    from device.storage.lexicons import NO_LEXICON, open_lexicon
    from engine.lexicon import LexiconError, describe_list

    subject, name, tiles = Subject("word list"), settings.game.lexicon, settings.game.tiles
    if name and name != NO_LEXICON and is_closed_to_service(system, Path(name), "r"):
        remedy = f"sudo install -m 644 {name} /etc/tilekeeper/, and enter the copy as game.lexicon in the settings file"
        yield subject.fault(f"the table may not read {name}", remedy)
        return
    try:
        lexicon = open_lexicon(name, tiles, find_cache_folder())
    except LexiconError as error:
        yield subject.fault(str(error), "name another file as game.lexicon in the settings file")
        return
    if lexicon is None:
        yield _describe_missing_list(settings)
    elif lexicon.is_authoritative:
        yield subject.good(" ".join(describe_list(lexicon)))
    elif lexicon.has_missing_forms or lexicon.has_misread_lines:
        yield subject.warning(
            " ".join(describe_list(lexicon)), "name another file as game.lexicon in the settings file"
        )
    else:
        yield subject.good(f"{' '.join(describe_list(lexicon))} It is from the system, so it only gives advice.")


def _describe_missing_list(settings: Settings) -> Finding:
    """Return a note that words are not checked, which matters most in a game without challenges."""
    from device.session.rule_choices import RuleChoice, make_rules
    from engine.rules import ChallengeRule

    is_void = make_rules(RuleChoice.parse(settings.game.rule_options)).challenge is ChallengeRule.VOID
    unchecked = "words are not checked" + (", and without challenges every play counts" if is_void else "")
    if settings.game.lexicon is not None:
        return Subject("word list").note(f"none is chosen: {unchecked}")
    remedy = "name a file as game.lexicon in the settings file"
    return Subject("word list").note(f"none for {settings.game.tiles}: {unchecked}", remedy)


def check_voice(system: System, settings: Settings) -> Iterator[Finding]:
    """Check that espeak-ng and a loudspeaker are available, if speech output is enabled."""
    subject = Subject("voice")
    if not settings.voice.use:
        return
    if system.run("espeak-ng", "--version") is None:
        yield subject.warning("espeak-ng is not installed: nothing is spoken", "sudo apt install espeak-ng")
    elif not system.glob("/dev/snd/pcm*p"):
        yield subject.warning("there is no loudspeaker", "plug in a USB loudspeaker, or set voice.use = false")
    else:
        yield from check_access(system, subject, "/dev/snd/pcm*p", "audio")


def check_speech(system: System, settings: Settings) -> Iterator[Finding]:
    """Let espeak-ng speak on the loudspeaker of the table, and name it."""
    subject, options = Subject("voice"), list_device_options(settings.voice.device)
    if not settings.voice.use or (spoken := system.run("espeak-ng", *options, "Tilekeeper")) is None:
        return
    device = options[-1] if options else "the card that ALSA chooses"
    if spoken.returncode:
        yield subject.warning(
            f"{device} does not play: {spoken.stderr.strip()}", "set voice.device: aplay -L lists all"
        )
    else:
        yield subject.good(f"a word was spoken on {device}")


def check_update(system: System, settings: Settings) -> Iterator[Finding]:
    """Report a newer version: a Debian package that apt knows, and a release if the settings allow asking."""
    policy = system.ask("apt-cache", "policy", "tilekeeper")
    versions = dict(re.findall(r"(?m)^  (Installed|Candidate): (\d\S*)", policy))
    if len(versions) == 2 and versions["Installed"] != versions["Candidate"]:
        text = f"{versions['Installed']} is installed, and {versions['Candidate']} is available"
        yield Subject("version").note(text, "sudo apt upgrade")
    if settings.page.new_versions and (newer := find_newer_version(find_cache_folder())):
        yield Subject("version").note(f"version {newer} was released", "get it as you got this one (docs/pi.md)")


def collect_versions(system: System) -> dict[str, str]:
    """Return the versions of the machine and the installed software by name, for bug reports."""
    release = re.search(r'PRETTY_NAME="?([^"\n]+)', system.read_text("/etc/os-release"))
    versions = {
        "tilekeeper": find_program_version(),
        "machine": system.read_text("/proc/device-tree/model") or platform.machine(),
        "system": release[1] if release else "",
        "kernel": system.read_text("/proc/sys/kernel/osrelease"),
        "python": f"{platform.python_version()} ({platform.machine()})",
        **{name: find_installed_version(name) for name in _LIBRARIES},
    }
    return {name: version for name, version in versions.items() if version}
