"""Read the tiles on a board from a picture, with a probability for each square, for any edition of the game.

`BoardReader` finds the board in a picture and reads its squares. `BoardTracker` keeps the corners found in one picture
as the starting point for the next picture of the same camera.

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
