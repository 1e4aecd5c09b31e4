"""The installer and its counterpart: what they refuse, and that a shell's checker finds nothing wrong with them.

That they install, upgrade, go back and take away is shown by `tests/hardware/arm64_root.sh`, in a root of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SYSTEMD = ROOT / "systemd"
PACKAGING = ROOT / "packaging"
MAINTAINER_SCRIPTS = [PACKAGING / name for name in ("preinst", "postinst", "prerm", "postrm")]
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
def test_wrong_option_is_refused_before_anything_is_done(arguments: tuple[str, ...], said: str) -> None:
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
