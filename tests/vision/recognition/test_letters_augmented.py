"""Predictions for unclear tiles are averaged over shifted crops; squares without print need no crops."""

from __future__ import annotations

import numpy as np
import pytest

from vision.geometry import Image
from vision.recognition.letters import LetterNet, TilePredictions
from vision.recognition.views import CROP_SIDE_PX, TilePoses

VIEW: Image = np.zeros((448, 448), np.uint8)
CELLS = ((3, 4), (7, 7))
NO_TILE, BLANK, A, B = ".?AB"


class CountingNet(LetterNet):
    """The letter network; it counts the crops on which it is run."""

    crop_count = 0

    def predict(self, cut: Image) -> TilePredictions:
        assert cut.shape[1:] == (CROP_SIDE_PX, CROP_SIDE_PX)
        self.crop_count += len(cut)
        return super().predict(cut)


@pytest.fixture(scope="module")
def net() -> CountingNet:
    return CountingNet()


def count_crops(net: CountingNet, best: str, p: float, other: str = B) -> int:
    """Return how many crops are read for two squares with the class `best` at the probability `p`, else `other`."""
    letters_p = np.full((len(CELLS), len(net.classes)), 1e-9)
    letters_p[:, net.classes.index(best)] = p
    letters_p[:, net.classes.index(other)] = 1 - p
    letters = np.log(letters_p).astype(np.float32)
    before = net.crop_count
    spots = TilePoses.at_centres(VIEW, CELLS)
    net.predict_augmented(spots, letters, net.alphabet_matrix("ABC"))
    return net.crop_count - before


def test_unclear_tile_is_read_at_two_shifts(net: CountingNet) -> None:
    assert count_crops(net, A, 0.7) == 2 * len(CELLS)


def test_clear_tile_is_not_read_again(net: CountingNet) -> None:
    assert count_crops(net, A, 0.99) == 0


@pytest.mark.parametrize(("best", "other"), [(NO_TILE, BLANK), (BLANK, NO_TILE)])
def test_square_without_print_is_not_read_again(net: CountingNet, best: str, other: str) -> None:
    assert count_crops(net, best, 0.6, other) == 0


@pytest.mark.parametrize("best", [NO_TILE, BLANK])
def test_square_that_may_have_a_letter_is_read_at_two_shifts(net: CountingNet, best: str) -> None:
    assert count_crops(net, best, 0.7) == 2 * len(CELLS)
