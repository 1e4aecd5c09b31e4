"""A letter network that notes how many crops it is given."""

from __future__ import annotations

from vision.geometry import Image
from vision.recognition.letters import LetterNet, TilePredictions


class CountingLetterNet(LetterNet):
    """A letter network that notes the number of crops of each prediction that has any."""

    def __init__(self) -> None:
        super().__init__()
        self.crop_counts: list[int] = []

    def predict(self, cut: Image) -> TilePredictions:
        if len(cut):
            self.crop_counts.append(len(cut))
        return super().predict(cut)
