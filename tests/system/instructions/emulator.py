"""An emulated Cortex-A72 (qemu-user) with Debian's Python, and the counting of the instructions that it executes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from tests.support.ports import find_free_port

REPOSITORY = Path(__file__).parents[3]
EMULATOR = "qemu-aarch64"
CORES = 4
WHEELS = ("numpy==2.4.6", "opencv-python-headless==4.14.0.94", "onnxruntime==1.32.0")
"""Versions of the libraries that do most of the work: other versions have other counts."""
PLATFORMS = ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64")
DEBIAN_PACKAGES = ("python3", "libstdc++6")
REPETITIONS = (1, 3)
"""Repetitions of the work in the two runs whose difference is counted; the first one includes initialisation."""

_CPU_INFO = """processor\t: {}
BogoMIPS\t: 108.00
Features\t: fp asimd evtstrm crc32 cpuid
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x0
CPU part\t: 0xd08
CPU revision\t: 3

"""
_CACHES = (("1", "Data", "32K"), ("1", "Instruction", "48K"), ("2", "Unified", "1024K"))


def find_folder() -> Path:
    """Return the folder with the files of the emulated system."""
    return Path(os.environ.get("TILEKEEPER_ARM64") or Path.home() / ".cache" / "tilekeeper" / "arm64")


def find_obstacle() -> str:
    """Return the reason why instructions cannot be counted here, or an empty string."""
    missing = [name for name in (EMULATOR, "gcc") if shutil.which(name) is None]
    if missing:
        return f"counting instructions needs {' and '.join(missing)}: apt-get install qemu-user gcc libc6-dev"
    if not (find_folder() / "site" / "numpy").is_dir():
        return f"no emulated system in {find_folder()}: python -m tests.system.instructions prepare"
    return ""


class Emulator:
    """The emulated system in a folder: `root` (Debian's Python), `site` (wheels), `pictures` and the plugin."""

    def __init__(self) -> None:
        self.folder = find_folder()

    def prepare(self) -> None:
        """Download and unpack the system. Raises `CalledProcessError`, `OSError`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._unpack_debian()
        describe_processor(self.folder / "root")
        with (REPOSITORY / "pyproject.toml").open("rb") as file:
            needed = tomllib.load(file)["project"]["dependencies"]
        target = ["--target", str(self.folder / "site"), "--python-version", self._python.name.removeprefix("python")]
        platforms = [word for name in PLATFORMS for word in ("--platform", name)]
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--only-binary=:all:"]
        tools = ["babel", "pytest"]  # a checkout compiles its texts; the support modules of the tests import pytest
        subprocess.run([*pip, *target, *platforms, *WHEELS, *needed, *tools], check=True)

    def count_work(self, name: str) -> int:
        """Return the instructions of one repetition of the workload `name`. Raises `CalledProcessError`."""
        self._count([name, "0"])  # compiles the bytecode
        few, many = (self._count([name, str(times)]) for times in REPETITIONS)
        return (many - few) // (REPETITIONS[1] - REPETITIONS[0])

    def count_photographs(self) -> int:
        """Return the mean instructions of reading a photograph, with initialisation. Raises `CalledProcessError`."""
        from tests.system.instructions.workloads import PHOTOGRAPH_COUNT, PHOTOGRAPHS

        loaded, read = (self._count([PHOTOGRAPHS, times]) for times in ("0", "1"))
        return (read - loaded) // PHOTOGRAPH_COUNT

    def count_start(self) -> int:
        """Return the instructions from the start of `tilekeeper run` to the first page, with compiled bytecode.

        The program is what a wheel contains: a checkout would compile the catalogues of the texts at each start.
        """
        program, counts = self._build_program(), []
        for _ in range(2):  # the first run compiles the bytecode and the templates
            counts.append(self._count(["start", str(find_free_port())], program))
        return counts[-1]

    @property
    def _python(self) -> Path:
        found = (self.folder / "root" / "usr" / "bin").glob("python3.*")
        return next(path for path in found if re.fullmatch(r"python3\.\d+", path.name))

    def _build_program(self) -> Path:
        """Put what a wheel contains into the folder `program`, and return it. Raises `CalledProcessError`."""
        program = self.folder / "program"
        shutil.rmtree(program, ignore_errors=True)
        build = [sys.executable, "setup.py", "--quiet", "build_py", "--build-lib", str(program)]
        subprocess.run(build, cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return program

    def _count(self, work: list[str], program: Path = REPOSITORY) -> int:
        """Run `work` of the packages in `program` in the emulator and return the number of instructions."""
        from tests.system.instructions.workloads import render_pictures

        pictures, result = self.folder / "pictures", self.folder / "instructions"
        if not pictures.is_dir():
            pictures.mkdir()
            render_pictures(pictures)
        plugin = build_plugin(self.folder)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LD_"))},
            "PYTHONPATH": os.pathsep.join(map(str, [self.folder / "site", program, REPOSITORY])),
            "PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"),
            "QEMU_LD_PREFIX": str(self.folder / "root"),
            "OPENBLAS_NUM_THREADS": "1",
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "INSTRUCTIONS": str(result),
        }
        emulate = [EMULATOR, "-cpu", "cortex-a72", "-plugin", str(plugin), str(self._python)]
        module = ["-m", "tests.system.instructions.workloads", *work, str(pictures)]
        subprocess.run([*emulate, *module], env=environment, cwd=program, check=True, stdout=subprocess.DEVNULL)
        return int(result.read_text(encoding="ascii"))

    def _unpack_debian(self) -> None:
        """Download Debian's packages for ARM with the sources of this machine, and unpack them into `root`."""
        apt = self.folder / "apt"
        for name in ("lists/partial", "cache/archives/partial", "state"):
            (apt / name).mkdir(parents=True, exist_ok=True)
        (apt / "status").touch()
        settings = {
            "APT::Architecture": "arm64",
            "APT::Architectures": "arm64",
            "APT::Install-Recommends": "false",
            "APT::Sandbox::User": "root",
            "Debug::NoLocking": "1",
            "Dir::Cache": apt / "cache",
            "Dir::State": apt / "state",
            "Dir::State::lists": apt / "lists",
            "Dir::State::status": apt / "status",
        }
        options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        subprocess.run(["apt-get", "-q", *options, "update"], check=True)
        subprocess.run(["apt-get", "-q", *options, "install", "-y", "--download-only", *DEBIAN_PACKAGES], check=True)
        for package in (apt / "cache" / "archives").glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(package), str(self.folder / "root")], check=True)


def build_plugin(folder: Path) -> Path:
    """Compile the counting plugin for the emulator of this machine. Raises `CalledProcessError`."""
    version = subprocess.run([EMULATOR, "--version"], capture_output=True, text=True, check=True).stdout
    major = int(re.findall(r"version (\d+)", version)[0])
    plugin, source = folder / "count_insns.so", Path(__file__).with_name("count_insns.c")
    define = f"-DPLUGIN_API={1 if major < 9 else 2}"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", define, "-o", str(plugin), str(source)], check=True)
    return plugin


def describe_processor(root: Path) -> None:
    """Write the files by which onnxruntime recognises the processor; those of the host describe another one."""
    _write(root / "proc" / "cpuinfo", "".join(_CPU_INFO.format(core) for core in range(CORES)))
    system, cores = root / "sys" / "devices" / "system" / "cpu", f"0-{CORES - 1}"
    for name in ("present", "possible", "online"):
        _write(system / name, f"{cores}\n")
    for core in range(CORES):
        together = dict.fromkeys(("core_siblings_list", "package_cpus_list", "cluster_cpus_list"), cores)
        alone = dict.fromkeys(("core_id", "thread_siblings_list", "core_cpus_list"), str(core))
        package = dict.fromkeys(("physical_package_id", "package_id", "cluster_id"), "0")
        _write_all(system / f"cpu{core}" / "topology", {**together, **alone, **package})
        for number, (level, kind, size) in enumerate(_CACHES):
            shared = cores if level == "2" else str(core)
            values = {"level": level, "type": kind, "size": size, "shared_cpu_list": shared}
            _write_all(system / f"cpu{core}" / "cache" / f"index{number}", {**values, "coherency_line_size": "64"})


def _write_all(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        _write(folder / name, f"{text}\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="ascii")
