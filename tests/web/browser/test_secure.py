"""A phone goes from http to https with the table's own certificate, and stays paired."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import samples
from tests.support.browsers import MARKS, open_tab, pair, visit
from tests.web.conftest import ShownTable
from web import create_app
from web.host_info import HostInfo
from web.security.certificate import OwnCertificate
from web.security.server import PageServer, TlsSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = MARKS


def test_paired_phone_stays_paired_over_https(browser: Browser, tmp_path: Path, table: ShownTable) -> None:
    table.show(samples.MIDGAME)
    own = OwnCertificate(tmp_path / "https.pem", lambda: ["127.0.0.1"])
    own.renew()
    ports: list[int] = []
    app = create_app(table, host_info=HostInfo(find_secure_port=lambda: ports[0]))
    with PageServer(app, 0, "127.0.0.1", tls=TlsSettings(own.path, own.path, 0)) as server:
        assert server.secure_port is not None
        ports.append(server.secure_port)
        with open_tab(browser, ignore_https_errors=True) as phone:
            pair(phone, server, app.extensions["pairing"].code)
            visit(phone, server, "/secure")
            phone.get_by_role("link", name="Open over https").click()
            phone.wait_for_url(f"https://127.0.0.1:{server.secure_port}/")
            phone.wait_for_selector("#panel")
            assert phone.evaluate("isSecureContext") and len(app.extensions["pairing"].clients) == 1
