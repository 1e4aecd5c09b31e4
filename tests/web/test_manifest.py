"""The manifest and the icons, with which a phone installs the page."""

from __future__ import annotations

import json

import cv2
import numpy as np
from flask.testing import FlaskClient


def test_icons_of_the_manifest_have_the_sizes_that_it_gives(client: FlaskClient) -> None:
    with client.get("/static/manifest.webmanifest") as answer:
        icons = json.loads(answer.data)["icons"]
    pictures = [icon for icon in icons if icon["type"] == "image/png"]
    assert {icon["sizes"] for icon in pictures} == {"192x192", "512x512"}
    assert any(icon.get("purpose") == "maskable" for icon in pictures)
    for icon in pictures:
        with client.get(icon["src"]) as answer:
            image = cv2.imdecode(np.frombuffer(answer.data, np.uint8), cv2.IMREAD_COLOR)
        assert image is not None and f"{image.shape[1]}x{image.shape[0]}" == icon["sizes"]


def test_iphones_get_an_icon_for_their_home_screen(client: FlaskClient) -> None:
    assert '<link rel="apple-touch-icon" href="/static/icon-180.png">' in client.get("/").text
    with client.get("/static/icon-180.png") as answer:
        assert answer.status_code == 200
