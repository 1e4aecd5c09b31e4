"""A game with a phone as the camera, played over HTTP on the page of this machine: a drawn picture after each turn.

python -m tests.hardware.phone_game CODE        CODE is the pairing code that the program printed
"""

from __future__ import annotations

import sys

import cv2

from tests.hardware.service import Phone, check, comes, failures
from tests.support.recorded_boards import TURNS, render_boards


def main(code: str) -> int:
    """0 when every turn had its score."""
    phone = Phone(code)
    scores: list[int] = []
    for image, score in render_boards(TURNS // 2):
        scores.append(score)
        phone.take_picture(cv2.imencode(".jpg", image)[1].tobytes())
        comes(f"turn {len(scores)} is on the page", lambda: len(phone.read("/turns")["turns"]) == len(scores), 60)
    counted = [turn["score"] for turn in phone.read("/turns")["turns"]]
    check("all turns have their scores", counted == scores, f"{counted}, played {scores}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
