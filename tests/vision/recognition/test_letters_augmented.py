"""Predictions for unclear tiles are averaged over shifted crops; squares that are certainly empty need no crops."""

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


def count_crops(net: CountingNet, best: str, p: float, tile_p: float) -> int:
    """Return how many crops are read for two squares with the class `best` at the probability `p`, otherwise a B."""
    letters_p = np.full((len(CELLS), len(net.classes)), 1e-9)
    letters_p[:, net.classes.index(best)] = p
    letters_p[:, net.classes.index(B)] = 1 - p
    letters = np.log(letters_p).astype(np.float32)
    before = net.crop_count
    spots = TilePoses.at_centres(VIEW, CELLS)
    net.predict_augmented(spots, letters, net.alphabet_matrix("ABC"), np.full(len(CELLS), tile_p))
    return net.crop_count - before


def test_unclear_tile_is_read_at_four_shifts(net: CountingNet) -> None:
    assert count_crops(net, A, 0.7, 1.0) == 4 * len(CELLS)


def test_clear_tile_is_not_read_again(net: CountingNet) -> None:
    assert count_crops(net, A, 0.99, 1.0) == 0


def test_unclear_square_that_both_networks_take_for_empty_is_not_read_again(net: CountingNet) -> None:
    assert count_crops(net, NO_TILE, 0.7, 0.01) == 0


@pytest.mark.parametrize(("best", "tile_p"), [(NO_TILE, 0.1), (BLANK, 0.01), (A, 0.01)])
def test_unclear_square_that_one_network_takes_for_a_tile_is_read_at_four_shifts(
    net: CountingNet, best: str, tile_p: float
) -> None:
    assert count_crops(net, best, 0.7, tile_p) == 4 * len(CELLS)
