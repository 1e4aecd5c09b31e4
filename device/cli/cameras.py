"""List the cameras of this machine: the value of --camera, and what it is, one camera a line.

A USB camera has the name that it reports. A network camera is not listed: its value is its address, http://... or
rtsp://...
"""

from __future__ import annotations

import argparse

HELP = "list the cameras, with the value of --camera"


def configure(_parser: argparse.ArgumentParser) -> None:
    """Add no arguments: the command has none."""


def run(_args: argparse.Namespace) -> int:
    """Print the list."""
    from device.cameras.listing import list_cameras

    cameras = list_cameras()
    width = max(len(camera.source) for camera in cameras)
    for camera in cameras:
        print(f"{camera.source:<{width}}  {camera.description}")
    return 0
