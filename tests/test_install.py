"""The installer and its counterpart: what they refuse, and that a shell's checker finds nothing wrong with them.

That they install, upgrade, go back and take away is shown by `tests/hardware/arm64_root.sh`, in a root of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SYSTEMD = ROOT / "systemd"
PACKAGING = ROOT / "packaging"
MAINTAINER_SCRIPTS = [PACKAGING / name for name in ("preinst", "postinst", "prerm", "postrm")]
FirstStart = Callable[[str | None], dict[str, str]]
SCRIPTS = sorted(
    [
        *SYSTEMD.glob("*.sh"),
        *(ROOT / "tests" / "hardware").glob("*.sh"),
        *PACKAGING.rglob("*.sh"),
        *MAINTAINER_SCRIPTS,
    ]
)


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not here")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing(script: Path) -> None:
    said = subprocess.run(["shellcheck", script], capture_output=True, text=True, check=False)
    assert said.stdout == "" and said.returncode == 0


def run(script: str, *arguments: str, commands: Path | None = None) -> subprocess.CompletedProcess[str]:
    path = os.environ["PATH"] if commands is None else f"{commands}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", SYSTEMD / script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PATH": path},
    )


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Commands that make this machine look like root's on another one."""

    def command(name: str, body: str) -> None:
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)

    command("id", "echo 0")
    command("apt-get", "exit 1")
    command("dpkg", "echo armhf")
    return tmp_path


@pytest.mark.parametrize("script", ["install.sh", "uninstall.sh"])
def test_help_is_the_head_of_the_script(script: str) -> None:
    said = run(script, "--help")
    assert said.returncode == 0 and f"systemd/{script}" in said.stdout.replace(
        "/opt/tilekeeper/uninstall.sh", "systemd/uninstall.sh"
    )
    assert "#" not in said.stdout and "set -" not in said.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--nmae", "x"), "--nmae is not an option of this program. --help lists all options"),
        (("--name",), "--name needs a name"),
        (("--name", "our table"), "'our table' cannot be the name of a machine"),
        (("--name", "-x"), "'-x' cannot be the name of a machine"),
        (("--country", "Germany"), "'GERMANY' is not a country code. Use two letters"),
    ],
)
def test_a_mistake_is_said_before_anything_is_done(arguments: tuple[str, ...], said: str) -> None:
    answer = run("install.sh", *arguments)
    assert answer.returncode == 2 and said in answer.stderr and answer.stderr.count("\n") == 1


def test_a_32_bit_system_is_refused_whatever_its_kernel_is(machine: Path) -> None:
    answer = run("install.sh", "--yes", commands=machine)
    assert answer.returncode == 2
    assert "this system is 32-bit (armhf)" in answer.stderr and "Raspberry Pi OS (64-bit)" in answer.stderr


def test_another_architecture_is_refused(machine: Path) -> None:
    (machine / "dpkg").write_text("#!/bin/sh\necho riscv64\n", encoding="utf-8")
    answer = run("install.sh", "--yes", commands=machine)
    assert answer.returncode == 2 and "Tilekeeper does not run on riscv64" in answer.stderr


def test_package_is_removed_before_the_installer_runs(machine: Path) -> None:
    for name, body in {"dpkg": "echo arm64", "dpkg-query": "echo 'install ok installed'", "sed": "echo trixie"}.items():
        (machine / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (machine / name).chmod(0o755)
    answer = run("install.sh", "--yes", commands=machine)
    assert answer.returncode == 2
    assert "Debian package tilekeeper is installed" in answer.stderr and "apt-get remove tilekeeper" in answer.stderr


@pytest.mark.parametrize(("made_by", "status"), [("install.sh", 1), ("a failed install.sh", 0)])
def test_package_replaces_no_installation_of_the_installer(tmp_path: Path, made_by: str, status: int) -> None:
    (tmp_path / "versions" / "0.1.0-1").mkdir(parents=True)
    if made_by == "install.sh":
        (tmp_path / "venv").symlink_to("versions/0.1.0-1")
    script = (PACKAGING / "preinst").read_text(encoding="utf-8")
    script = script.replace("/opt/tilekeeper/v", f"{tmp_path}/v").replace("data=/var/lib", f"data={tmp_path}")
    done = subprocess.run(["sh", "-c", script, "preinst", "install"], capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert ("uninstall.sh" in done.stderr) is bool(status)


def test_only_root_installs(machine: Path) -> None:
    (machine / "id").write_text("#!/bin/sh\necho 1000\n", encoding="utf-8")
    answer = run("install.sh", "--yes", commands=machine)
    assert answer.returncode == 2 and "sudo" in answer.stderr


def show_addresses(commands: Path, numbers: str, *, state: str) -> list[str]:
    """Return what `install.sh` shows where the machine has the addresses `numbers` and the service is in `state`.

    The journal has the digits of two starts; those of the last start are 222222.
    """
    for name, body in {
        "hostname": f"echo '{numbers}'",
        "systemctl": f"case $1 in show) echo last ;; *) [ {state} = active ] ;; esac",
        "journalctl": """case $* in
    *_SYSTEMD_INVOCATION_ID=last*) echo 'To pair a phone, type this code there: 222222' ;;
    *) echo 'To pair a phone, type this code there: 111111' ;;
esac""",
    }.items():
        (commands / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (commands / name).chmod(0o755)
    functions = (SYSTEMD / "install.sh").read_text(encoding="utf-8").removesuffix('main "$@"\n')
    functions += "booted() { true; }\nname_now() { echo kitchen; }\nPORT=8080\nshow_addresses\n"
    answer = subprocess.run(
        ["bash", "-c", functions],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": f"{commands}:{os.environ['PATH']}"},
    )
    return answer.stdout.splitlines()


@pytest.mark.parametrize(
    ("numbers", "addresses"),
    [
        ("", "http://kitchen.local:8080"),
        ("192.0.2.7 2001:db8::7 ", "http://kitchen.local:8080 or http://192.0.2.7:8080"),
        ("2001:db8::7 192.0.2.7 ", "http://kitchen.local:8080 or http://192.0.2.7:8080"),
        ("2001:db8::7 ", "http://kitchen.local:8080"),
    ],
)
def test_installer_shows_an_address_with_numbers_of_ipv4(machine: Path, numbers: str, addresses: str) -> None:
    assert show_addresses(machine, numbers, state="active")[0] == f"page:     {addresses}"


def test_installer_shows_the_digits_of_the_table_that_runs(machine: Path) -> None:
    assert show_addresses(machine, "", state="active")[1:] == ["digits:   222222 (to pair a phone on this page)"]


def test_installer_shows_no_digits_of_a_table_that_does_not_run(machine: Path) -> None:
    assert show_addresses(machine, "", state="failed")[1:] == []


def fail_to_copy_games(commands: Path) -> str:
    """Run the last step of an upgrade on a full disk; return the calls of systemctl."""
    calls, data = commands / "calls", commands / "data"
    data.mkdir()
    (data / "games.db").touch()
    for name, body in {
        "systemctl": f'echo "$@" >>{calls}; [ "$1" != is-active ] || echo active',
        "cp": "exit 1",
        "udevadm": "",
        "python3": "echo 3",
    }.items():
        (commands / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (commands / name).chmod(0o755)
    steps = (SYSTEMD / "install.sh").read_text(encoding="utf-8").removesuffix('main "$@"\n')
    steps += f"""BASE={commands}/base DATA={data} SAVED={commands}/saved OLD={commands}/old NEW={commands}/new STEP=copy
mkdir -p "$BASE" "$SAVED" "$NEW"
echo /usr/local/bin/tilekeeper >"$BASE/files"
booted() {{ true; }}
ln() {{ true; }}
trap roll_back ERR
start_version
"""
    done = subprocess.run(
        ["bash", "-c", steps],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{commands}:{os.environ['PATH']}"},
    )
    assert done.returncode == 1 and "nothing has changed" in done.stderr
    return calls.read_text()


def test_table_runs_again_if_its_games_cannot_be_copied_before_an_upgrade(machine: Path) -> None:
    calls = fail_to_copy_games(machine)
    assert "stop tilekeeper.service" in calls and calls.endswith("start tilekeeper.service\n")


def test_version_of_a_damaged_store_ends_no_upgrade(tmp_path: Path) -> None:
    (tmp_path / "games.db").write_bytes(b"x" * 8192)
    functions = (SYSTEMD / "install.sh").read_text(encoding="utf-8").removesuffix('main "$@"\n')
    done = subprocess.run(
        ["bash", "-c", f"{functions}DATA={tmp_path}\nuser_version\n"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "damaged\n")


@pytest.fixture
def mounted_games(tmp_path: Path) -> Path:
    """A folder with a game, and commands that treat it as a mount point, which cannot be removed."""
    games, commands = tmp_path / "games", tmp_path / "commands"
    for folder in (games / "backups", commands, tmp_path / "base", tmp_path / "settings"):
        folder.mkdir(parents=True)
    (games / "games.db").touch()
    (games / "backups" / ".kept").touch()
    refuse = (
        f'for one; do [ "$one" != {games} ] || exit 1; case $one in -* | {tmp_path}/*) ;; *) exit 0 ;; esac; done\n'
    )
    for name, body in {
        "rm": f'{refuse}exec {shutil.which("rm")} "$@"',
        "rmdir": f'{refuse}exec {shutil.which("rmdir")} "$@"',
        "id": "echo 0",
        "getent": "exit 2",
        **dict.fromkeys(("systemctl", "apt-mark", "chown"), ""),
    }.items():
        (commands / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        (commands / name).chmod(0o755)
    return games


def test_uninstall_deletes_games_on_a_partition_of_their_own(mounted_games: Path) -> None:
    folder = mounted_games.parent
    script = (SYSTEMD / "uninstall.sh").read_text(encoding="utf-8").removesuffix('main "$@"\n')
    script = script.replace("/var/cache/tilekeeper", f"{folder}/cache")
    script += (
        f"BASE={folder}/base DATA={mounted_games} ETC={folder}/settings\nbooted() {{ false; }}\nmain --data --yes\n"
    )
    env = {**os.environ, "PATH": f"{folder}/commands:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert list(mounted_games.iterdir()) == [] and not (folder / "base").exists()


def test_package_deletes_games_on_a_partition_of_their_own(mounted_games: Path) -> None:
    folder = mounted_games.parent
    script = (PACKAGING / "postrm").read_text(encoding="utf-8").replace("/run/systemd/system", f"{folder}/none")
    script = script.replace("data=/var/lib/tilekeeper", f"data={mounted_games}").replace("delete=false", "delete=true")
    script = script.replace("/usr/share/debconf/confmodule", f"{folder}/none")
    script = script.replace("/var/cache/tilekeeper /etc/tilekeeper", f"{folder}/cache {folder}/settings")
    env = {**os.environ, "PATH": f"{folder}/commands:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", script, "postrm", "purge"], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert list(mounted_games.iterdir()) == []


def test_every_group_of_the_unit_is_made() -> None:
    made = set(re.findall(r"^g (\S+)", (SYSTEMD / "tilekeeper.sysusers").read_text(encoding="utf-8"), re.MULTILINE))
    joined = set(
        re.findall(r"^m tilekeeper (\S+)", (SYSTEMD / "tilekeeper.sysusers").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert made == joined
    unit = (SYSTEMD / "tilekeeper.service").read_text(encoding="utf-8")
    assert "User=tilekeeper" in unit and "ExecStart=/opt/tilekeeper/venv/bin/tilekeeper" in unit


def test_every_group_of_the_udev_rules_is_made() -> None:
    made = set(re.findall(r"^g (\S+)", (SYSTEMD / "tilekeeper.sysusers").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r'GROUP="(\w+)"', (SYSTEMD / "tilekeeper.udev").read_text(encoding="utf-8")))
    assert named <= made


def test_debian_package_has_every_file_of_the_service() -> None:
    builder = (PACKAGING / "build-deb.sh").read_text(encoding="utf-8")
    files = {path.name for path in SYSTEMD.iterdir()} - {"install.sh", "uninstall.sh"}
    assert {name for name in files if f"$systemd/{name} " not in builder.replace('"', " ")} == set()


IMAGER_DATA = "#cloud-config\nmanage_resolv_conf: false\nhostname: raspberrypi\nmanage_etc_hosts: true\n"


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """The root folder of a card that Raspberry Pi Imager 2 has customised."""
    for name, text in {
        "etc/hostname": "raspberrypi\n",
        "etc/hosts": "127.0.0.1\tlocalhost\n127.0.1.1\traspberrypi\n",
        "etc/cloud/cloud.cfg": "preserve_hostname: false\n",
        "boot/firmware/user-data": IMAGER_DATA,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def set_host_name(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["bash", SYSTEMD / "host-name.sh", *arguments], check=True, env={**os.environ, "TILEKEEPER_ROOT": str(root)}
    )


def test_name_is_kept_where_cloud_init_sets_one_at_each_start(card: Path) -> None:
    set_host_name(card, "set", "kitchen")
    assert (card / "etc/hostname").read_text() == "kitchen\n"
    assert "127.0.1.1\tkitchen" in (card / "etc/hosts").read_text()
    assert "preserve_hostname: true" in (card / "etc/cloud/cloud.cfg.d/99-tilekeeper.cfg").read_text()
    assert (card / "boot/firmware/user-data").read_text() == IMAGER_DATA.replace("raspberrypi", "kitchen")


def test_former_name_comes_back_as_it_was(card: Path) -> None:
    before = {path: path.read_text() for path in card.rglob("*") if path.is_file()}
    set_host_name(card, "set", "kitchen")
    set_host_name(card, "set", "living-room")
    set_host_name(card, "restore")
    assert {path: path.read_text() for path in card.rglob("*") if path.is_file()} == before


def test_name_of_a_card_image_leaves_cloud_init_the_last_word(card: Path) -> None:
    set_host_name(card, "suggest", "tilekeeper")
    assert (card / "etc/hostname").read_text() == "tilekeeper\n"
    assert list((card / "etc/cloud").rglob("*")) == [card / "etc/cloud/cloud.cfg"]


def test_name_is_changed_in_the_copy_that_cloud_init_keeps_of_its_data(card: Path) -> None:
    copy = card / "var/lib/cloud/instances/rpi-imager-1770411050503/cloud-config.txt"
    copy.parent.mkdir(parents=True)
    copy.write_text("#cloud-config\n\nhostname: raspberrypi\nmanage_etc_hosts: true\n")
    set_host_name(card, "set", "kitchen")
    assert copy.read_text() == "#cloud-config\n\nhostname: kitchen\nmanage_etc_hosts: true\n"


def name_by_installer(card: Path, *options: str, answer: str | None = None, then: str = "") -> str:
    """Run the steps of `install.sh` that name the machine, with an `answer` to their question; return what `then` says.

    Without an answer nothing is asked. `then` is shell code, and the name is printed first.
    """
    base = card / "opt/tilekeeper"
    base.mkdir(parents=True, exist_ok=True)
    shutil.copy(SYSTEMD / "host-name.sh", base)
    steps = (SYSTEMD / "install.sh").read_text(encoding="utf-8").removesuffix('main "$@"\n')
    steps += f"""SOURCE={SYSTEMD.parent} BASE={base}
booted() {{ false; }}
name_now() {{ cat {card}/etc/hostname; }}
read_options "$@"
ASK={"" if answer is None else "yes"}
ask_name
name_machine >&2
name_now
{then}"""
    done = subprocess.run(
        ["bash", "-c", steps, "install.sh", *options],
        input=f"{answer or ''}\n",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TILEKEEPER_ROOT": str(card)},
    )
    return done.stdout


@pytest.fixture
def old_installation(card: Path) -> Path:
    """A card with a version that named the machine `kitchen` and did not tell cloud-init; not started again yet."""
    (card / "opt/tilekeeper").mkdir(parents=True)
    (card / "opt/tilekeeper/venv").symlink_to("versions/0.0.9-1")
    (card / "opt/tilekeeper/former-hostname").write_text("raspberrypi\n")
    (card / "etc/hostname").write_text("kitchen\n")
    return card


def keeps_name(card: Path, name: str) -> bool:
    """Whether cloud-init will leave `name` as it is."""
    settings = card / "etc/cloud/cloud.cfg.d/99-tilekeeper.cfg"
    return settings.exists() and f"hostname: {name}\n" in (card / "boot/firmware/user-data").read_text()


def test_upgrade_keeps_the_name_of_an_old_installation_from_cloud_init(old_installation: Path) -> None:
    assert name_by_installer(old_installation) == "kitchen\n"
    assert keeps_name(old_installation, "kitchen")


def test_upgrade_gives_the_name_again_that_cloud_init_took(old_installation: Path) -> None:
    (old_installation / "etc/hostname").write_text("raspberrypi\n")
    assert name_by_installer(old_installation) == "tilekeeper\n"
    assert keeps_name(old_installation, "tilekeeper")


def test_upgrade_asks_for_the_name_that_cloud_init_took(old_installation: Path) -> None:
    (old_installation / "etc/hostname").write_text("raspberrypi\n")
    assert name_by_installer(old_installation, answer="kitchen") == "kitchen\n"
    assert name_by_installer(old_installation) == "kitchen\n"


def test_upgrade_remembers_that_the_former_name_is_wanted(old_installation: Path) -> None:
    (old_installation / "etc/hostname").write_text("raspberrypi\n")
    assert name_by_installer(old_installation, answer="n") == "raspberrypi\n"
    assert name_by_installer(old_installation) == "raspberrypi\n"


def test_upgrade_does_not_name_a_machine_that_kept_its_name(old_installation: Path) -> None:
    (old_installation / "etc/hostname").write_text("raspberrypi\n")
    (old_installation / "opt/tilekeeper/former-hostname").unlink()
    assert name_by_installer(old_installation) == "raspberrypi\n"


def test_first_installation_names_the_machine(card: Path) -> None:
    assert name_by_installer(card) == "tilekeeper\n"
    assert keeps_name(card, "tilekeeper")


def test_answered_name_leaves_the_other_options_as_they_are(card: Path) -> None:
    options = ("--country", "DE", "--no-hotspot")
    said = name_by_installer(card, *options, answer="kitchen", then='echo "$COUNTRY $HOTSPOT"')
    assert said == "kitchen\nDE no\n"


def test_name_without_cloud_init_changes_no_file_of_cloud_init(card: Path) -> None:
    shutil.rmtree(card / "etc/cloud")
    set_host_name(card, "set", "kitchen")
    assert not (card / "etc/cloud").exists()


@pytest.fixture
def first_start(tmp_path: Path) -> FirstStart:
    """Run `make-hotspot.sh` on a card with a `tilekeeper-wifi.txt`; return the name and password of the Wi-Fi."""
    commands, card = tmp_path / "commands", tmp_path / "card"
    commands.mkdir()
    for name in ("nmcli", "chgrp"):
        (commands / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (commands / name).chmod(0o755)

    def run_first_start(text: str | None) -> dict[str, str]:
        if text is not None:
            (card / "boot/firmware").mkdir(parents=True)
            (card / "boot/firmware/tilekeeper-wifi.txt").write_bytes(text.encode())
        answer = run("make-hotspot.sh", str(card), "8080", commands=commands)
        assert answer.returncode == 0, answer.stderr
        hotspot = tomllib.loads((card / "etc/tilekeeper/hotspot.toml").read_text(encoding="utf-8"))
        return {key: hotspot[key] for key in ("name", "password")}

    return run_first_start


def test_own_wifi_without_a_card_file_is_random(first_start: FirstStart, tmp_path: Path) -> None:
    hotspot = first_start(None)
    assert re.fullmatch(r"Tilekeeper-\w{4}", hotspot["name"]) and re.fullmatch(r"\w{10}", hotspot["password"])
    assert not (tmp_path / "card/boot").exists()


def test_own_wifi_is_chosen_on_the_card(first_start: FirstStart) -> None:
    assert first_start("name = Our-Table\r\npassword = horn-farm\r\n") == {
        "name": "Our-Table",
        "password": "horn-farm",
    }


@pytest.mark.parametrize("password", ["", "short", "horn farm paste", 'horn"farm"', "x" * 64])
def test_own_wifi_gets_a_random_password_where_none_can_be_used(first_start: FirstStart, password: str) -> None:
    assert re.fullmatch(r"\w{10}", first_start(f"name =\npassword = {password}\n")["password"])


def test_own_wifi_is_written_on_the_card(first_start: FirstStart, tmp_path: Path) -> None:
    hotspot = first_start((PACKAGING / "image/tilekeeper-wifi.txt").read_text(encoding="utf-8"))
    text = (tmp_path / "card/boot/firmware/tilekeeper-wifi.txt").read_text(encoding="utf-8")
    assert f"name = {hotspot['name']}\npassword = {hotspot['password']}\n" in text


def test_first_start_that_is_cut_off_is_repeated(first_start: FirstStart, tmp_path: Path) -> None:
    cut = tmp_path / "commands/sync"
    cut.write_text("#!/bin/sh\ncase $1 in *tilekeeper-wifi.txt) exit 1 ;; esac\n", encoding="utf-8")
    cut.chmod(0o755)
    with pytest.raises(AssertionError):
        first_start("")
    assert not (tmp_path / "card/etc/tilekeeper/hotspot.toml").exists(), "the condition of the first start"
    assert not list(tmp_path.glob("card/etc/**/.*"))
