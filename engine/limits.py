"""Limits for files, requests and connections from outside the program, with the reason for each limit.

The limits are in `engine` because every package may import `engine`. The error message for a rejected file or request
contains the limit.
"""

from __future__ import annotations

from typing import Final

# Imported games and word lists

MAX_GCG_LINES: Final = 1000
"""Maximum number of lines in a GCG file. The longest of 1,000 published games has 90 lines."""
MAX_GCG_LINE_CHARS: Final = 20_000
"""Maximum number of characters in a line of a GCG file. Notes can be long."""
MAX_GCG_EVENT_CHARS: Final = 50_000
"""Maximum number of characters in all event lines of a GCG file together, 100 for each of `MAX_GCG_EVENTS`.

The longest event line of 1,000 published games has 72 characters. The number is limited because the tiles of all events
are parsed again for each tile set and layout that the file may be of.
"""
MAX_GCG_PRAGMAS: Final = 200
"""Maximum number of lines in a GCG file that begin with `#`. Published games have up to 19 such lines."""
MAX_GCG_EVENTS: Final = 500
"""Maximum number of turns in a GCG file, several times the number in the longest known game.

The number is limited because all events are computed again for each corrected score.
"""
MAX_TIME_PENALTY: Final = 600
"""Maximum time penalty, in points, that is imported without a notice: an hour of overtime at 10 points a minute.

The largest penalty in 1,000 published games is 30 points.
"""
MAX_CHALLENGE_POINTS: Final = 100
"""Maximum points for one challenge that are imported without a notice: 10 points for each word of the longest play.

A play of nine tiles has up to ten words. The largest number of points in 1,000 published games is 10.
"""

MAX_LEXICON_BYTES: Final = 64_000_000
"""Maximum size of a word list as text. The largest known list, Debian's `wpolish`, has 60 MB."""
MAX_LEXICON_LINES: Final = 5_000_000
"""Maximum number of lines in a word list. The number determines the time and the memory for compiling the list.

`wpolish` has 4.3 million lines, of which 3.3 million are words that fit the board.
"""
MAX_LEXICON_LINE_BYTES: Final = 10_000
"""Maximum size of a line in a word list. A line has a word and optionally the definition of the word."""
MAX_ARCHIVE_DIRECTORY_BYTES: Final = 1_000_000
"""Maximum size of the ZIP directory of a game archive. Two pictures for each turn need 0.2 MB."""
MAX_ARCHIVE_UNPACKED_BYTES: Final = 512_000_000
"""Maximum size of all files of a game archive together, after unpacking."""
MAX_ARCHIVE_GAME_BYTES: Final = 8_000_000
"""Maximum size of the events in a game archive."""
MAX_REPORT_TURNS: Final = 40
"""Maximum number of turns whose pictures are in a problem report. A game has about 30 turns."""
MAX_GCG_BYTES: Final = 1_000_000
"""Maximum size of an imported GCG file."""
MAX_PICTURE_SIDE_PX: Final = 4096
"""Maximum length of the longer side of a picture in a game archive, in pixels."""

# Uploaded pictures

MAX_PICTURE_PIXELS: Final = 32_000_000
"""Maximum number of pixels of a picture. The whole picture is decoded, which takes up to 8 bytes for each pixel."""
MAX_WEBP_PIXELS: Final = 12_000_000
"""Maximum number of pixels of a WebP picture. The WebP decoder takes 20 bytes for each pixel."""
MAX_JPEG_PIXELS: Final = 178_000_000
"""Maximum number of pixels of a JPEG picture that is not progressive (the limit of Pillow).

The limit is higher than `MAX_PICTURE_PIXELS` because such a picture is reduced in size during decoding.
"""

MAX_UPLOADED_PHOTO_BYTES: Final = 16 * 1024 * 1024
"""Maximum size of a photograph that a phone sends. Usual sizes are 3 MB with the page's script, and 12 MB without."""

MAX_PREVIEW_BYTES: Final = 256 * 1024
"""Maximum size of a small picture that a phone on a stand sends. Pictures of boards have about 30 kB."""

MAX_PICTURE_FILE_BYTES: Final = 140_000_000
"""Maximum size of a picture file: `MAX_PICTURE_PIXELS` without compression, at 4 bytes for each pixel."""
MAX_JPEG_FILE_BYTES: Final = 64_000_000
"""Maximum size of a JPEG file. Bytes between its segments are skipped one by one, which takes 4 s for this size."""

# Requests to the web server

MAX_BODY_BYTES: Final = 64 * 1024
"""Maximum size of a request body. Forms and commands have a few hundred bytes."""
MAX_LARGE_BODIES: Final = 2
"""Maximum number of imported games that the server receives at the same time."""
BODY_TIMEOUT_S: Final = 10.0
"""Maximum time until a request body is complete, in seconds.

For a picture or an imported game, it is the maximum time between two parts of the body.
"""
MIN_BODY_RATE: Final = 100_000
"""Slowest rate of a picture or an imported game, in bytes a second, beside `BODY_TIMEOUT_S`.

A phone with one bar of Wi-Fi sends 500 kB a second.
"""

# Connections to the web server

MAX_PORT: Final = 65_535
"""Largest port number of TCP: its header has 16 bits for the port."""
MAX_CONNECTIONS: Final = 1024
"""Maximum number of connections of all clients, over http and https."""
MAX_CONNECTIONS_PER_ADDRESS: Final = 32
"""Maximum number of connections of one IPv4 address or one IPv6 /64 network. A browser opens six."""
IDLE_TIMEOUT_S: Final = 15.0
"""Time after which a connection without a request is closed, in seconds.

The headers of a request must be complete within the same time.
"""
MAX_STREAMS: Final = 128
"""Maximum number of open event streams of all clients. Further clients must poll."""
MAX_HOST_CHARS: Final = 260
"""Maximum length of a `Host` header: a name of 253 characters and a port (RFC 1035, 2.3.4)."""
MAX_PAIRED_CLIENTS: Final = 64
"""Maximum number of paired devices.

At the limit, a new device replaces one that was not used since the start of the program.
"""


def format_size(size: int) -> str:
    """Return a number of bytes as text in kB or MB.

    >>> format_size(64 * 1024), format_size(32 * 1024 * 1024)
    ('64 kB', '32 MB')
    """
    return f"{size // 2**20} MB" if size >= 2**20 else f"{size // 2**10} kB"
