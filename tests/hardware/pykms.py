"""Stands in for the bindings of kms++, which Debian does not have: picamera2 imports them for its DRM preview only."""


class _Formats(type):
    def __getattr__(cls, name: str) -> str:
        return name


class PixelFormat(metaclass=_Formats):
    """Every format that may be named while picamera2 is imported; none is used."""
