"""Unclear tiles are read again with the large network and from shifted crops; squares without print are not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.geometry import Image
from vision.net import MODELS_DIR, Net
from vision.recognition.letters import LARGE_LETTERS_FILE, LetterNet, TilePredictions
from vision.recognition.views import CROP_SIDE_PX, TilePoses
from vision.rendering.simulated_table import SimulatedTable
from vision.training import dataset

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


def make_logp(net: LetterNet, best: str, p: float, other: str = B) -> NDArray[np.float32]:
    """Return log-probabilities for two squares: the class `best` has the probability `p`, `other` the rest."""
    letters_p = np.full((len(CELLS), len(net.classes)), 1e-9)
    letters_p[:, net.classes.index(best)] = p
    letters_p[:, net.classes.index(other)] = 1 - p
    return np.log(letters_p).astype(np.float32)


def count_crops(net: CountingNet, best: str, p: float, other: str = B, *, tile_p: float = 0.99) -> int:
    """Return how many crops the letter network reads again for two squares with these probabilities."""
    before = net.crop_count
    spots = TilePoses.at_centres(VIEW, CELLS)
    net.reread_unclear_tiles(
        spots, make_logp(net, best, p, other), net.alphabet_matrix("ABC"), np.full(len(CELLS), tile_p)
    )
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


def test_unclear_square_that_is_probably_empty_is_not_read_again(net: CountingNet) -> None:
    assert count_crops(net, NO_TILE, 0.7, tile_p=0.02) == 0


def test_blank_whose_doubt_is_spread_over_many_letters_is_not_read_again(net: CountingNet) -> None:
    spots, alphabet = TilePoses.at_centres(VIEW, CELLS), net.alphabet_matrix("ABCDEFGHIJ")
    letters_p = np.full((len(CELLS), len(net.classes)), 1e-9)
    letters_p[:, net.classes.index(BLANK)] = 0.8
    letters_p[:, [net.classes.index(letter) for letter in "ABCDEFGHIJ"]] = 0.02
    letters_logp = np.log(letters_p).astype(np.float32)
    assert net.reread_unclear_tiles(spots, letters_logp, alphabet) is letters_logp


def test_unclear_tile_gets_the_letter_that_both_networks_see(net: CountingNet) -> None:
    table = SimulatedTable(seed=5)
    table.lay_tiles(dict.fromkeys(CELLS, "A"))
    spots = TilePoses.at_centres(dataset.to_board_views(dataset.extract_views(table.photograph(), 0)).tops, CELLS)
    reread = net.reread_unclear_tiles(spots, make_logp(net, B, 0.6, A), net.alphabet_matrix("AB"))
    assert [net.classes[k] for k in reread.argmax(axis=1)] == [A, A]


def test_large_network_has_the_classes_of_the_letter_network(net: CountingNet) -> None:
    assert tuple(map(str, Net(MODELS_DIR / LARGE_LETTERS_FILE).metadata["classes"])) == net.classes  # type: ignore[call-overload]
