"""Limits on what comes from outside: files, requests, connections. All in one place, with the reason for each.

They are in `engine` because every package may import it. A refusal names the limit.
"""

from __future__ import annotations

from typing import Final

# Games and word lists from elsewhere

MAX_GCG_LINES: Final = 1000
"""Lines of a GCG file; the longest of a thousand published games has 90."""
MAX_GCG_LINE_CHARS: Final = 20_000
"""Characters of a line; notes are long, turns have up to 80."""
MAX_GCG_PRAGMAS: Final = 200
"""Lines that begin with #; published games have up to 19."""
MAX_GCG_EVENTS: Final = 500
"""Turns: several times the longest game. Each corrected score computes all events before it again."""

MAX_LEXICON_BYTES: Final = 12_000_000
"""Word list as text; compiling it takes thirty times as much memory."""
MAX_LEXICON_LINE_BYTES: Final = 10_000
"""Line of a word list: a word, and perhaps its definition."""
MAX_ARCHIVE_DIRECTORY_BYTES: Final = 1_000_000
"""List of the files in an archive of a game: two pictures for each turn make 0.2 MB."""
MAX_ARCHIVE_UNPACKED_BYTES: Final = 512_000_000
"""All files in an archive of a game together, unpacked."""
MAX_ARCHIVE_GAME_BYTES: Final = 8_000_000
"""The events in an archive of a game."""
MAX_GCG_BYTES: Final = 1_000_000
"""A GCG file that is imported."""
MAX_PICTURE_SIDE_PX: Final = 4096
"""Longer side of a picture in an archive of a game, in pixels."""

# Pictures from elsewhere

MAX_PICTURE_PIXELS: Final = 32_000_000
"""Pixels of a picture, which is decoded whole: up to 8 bytes for each."""
MAX_WEBP_PIXELS: Final = 12_000_000
"""Pixels of a WebP, whose decoder takes 20 bytes for each."""
MAX_JPEG_PIXELS: Final = 178_000_000
"""Pixels of a JPEG that is not progressive: it is reduced while it is decoded (Pillow's own limit)."""

# Requests to the page

MAX_BODY_BYTES: Final = 64 * 1024
"""Body of a request; forms and commands have a few hundred bytes."""
MAX_LARGE_BODIES: Final = 2
"""Bodies of games that are received at the same time."""
BODY_TIMEOUT_S: Final = 10.0
"""Seconds within which a body must be complete; for a body of games, seconds between two of its parts."""
SEND_TIMEOUT_S: Final = 10.0
"""Seconds in which a client must take the next part of a response. A phone that is asleep takes none."""

# Connections to the page

MAX_CONNECTIONS: Final = 1024
"""Connections of all clients. A further one replaces the one that has been idle longest."""
MAX_CONNECTIONS_PER_ADDRESS: Final = 32
"""Connections of one device, in IPv6 of one /64 network; a browser opens six to a host."""
MAX_REQUESTS_PER_ADDRESS: Final = 8
"""Requests of one device that are worked on at the same time; more of them wait."""
IDLE_TIMEOUT_S: Final = 15.0
"""Seconds after which a connection without a request is closed; a request's headers must be complete by then."""
MAX_STREAMS: Final = 128
"""Open event streams of all clients. Others poll."""
MAX_STREAMS_PER_ADDRESS: Final = 8
"""Open event streams of one device."""
MAX_HOST_CHARS: Final = 260
"""Characters of a `Host` header: a name of 253 and a port (RFC 1035, 2.3.4)."""
MAX_PAIRED_CLIENTS: Final = 64
"""Paired devices. A further one takes the place of one that was not used since the program was started."""


def format_size(size: int) -> str:
    """Return a number of bytes as text.

    >>> format_size(64 * 1024), format_size(32 * 1024 * 1024)
    ('64 kB', '32 MB')
    """
    return f"{size // 2**20} MB" if size >= 2**20 else f"{size // 2**10} kB"
