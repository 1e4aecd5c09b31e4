"""From a picture to a board reading with confidences, for boards and tiles of any edition.

`BoardReader` finds a board in a picture and reads it. `BoardTracker` carries the location from one picture of the same
camera to the next.

>>> import numpy as np
>>> from vision import BoardReader, BoardTracker
>>> reader, tracker = BoardReader(), BoardTracker()
>>> image = np.full((240, 320, 3), 128, np.uint8)  # in practice: load_photo(path).image, BGR
>>> reading = reader.read(image, ["A", "B", "C"], hint=tracker)
>>> tracker = tracker.update(image, reading.location)
>>> print(reading.board)  # a `BoardReading` where there is a board
None
>>> len(reading.problems)
1
"""

from vision.detection.location import BoardLocation, BoardNotFoundError, LocationSource, Locator
from vision.detection.locator import BoardLocator
from vision.net import InvalidOutputError, ModelError
from vision.photo import Photo, PhotoError, load_photo
from vision.recognition.reader import BoardReader, PhotoReader, PhotoReading, best_guess
from vision.tracking import BoardTracker

__all__ = [
    "BoardLocation",
    "BoardLocator",
    "BoardNotFoundError",
    "BoardReader",
    "BoardTracker",
    "InvalidOutputError",
    "LocationSource",
    "Locator",
    "ModelError",
    "Photo",
    "PhotoError",
    "PhotoReader",
    "PhotoReading",
    "best_guess",
    "load_photo",
]
