"""Networks of the tests of reading."""

from __future__ import annotations

from tests.support.shared_networks import shared_networks as shared_networks
