"""The name of the machine: set, restored, and kept where cloud-init would set another one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SYSTEMD = ROOT / "systemd"
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
    """A card on which an older version named the machine `kitchen` without telling cloud-init; not restarted since."""
    (card / "opt/tilekeeper").mkdir(parents=True)
    (card / "opt/tilekeeper/venv").symlink_to("versions/0.0.9-1")
    (card / "opt/tilekeeper/former-hostname").write_text("raspberrypi\n")
    (card / "etc/hostname").write_text("kitchen\n")
    return card


def keeps_name(card: Path, name: str) -> bool:
    """Return True if cloud-init will leave `name` as it is."""
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
