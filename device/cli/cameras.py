"""List the cameras of this machine, one on each line. The first word is the value for --camera.

USB cameras are listed with the names that they report. Network cameras are not listed: use their address with --camera,
such as http://... or rtsp://...
"""

from __future__ import annotations

import argparse


def configure(_parser: argparse.ArgumentParser) -> None:
    """Add no arguments: the command has none."""


def run(_args: argparse.Namespace) -> int:
    """Print the list of cameras; return the exit status."""
    from device.cameras.listing import list_cameras

    cameras = list_cameras()
    width = max(len(camera.source) for camera in cameras)
    for camera in cameras:
        print(f"{camera.source:<{width}}  {camera.description}")
    return 0
