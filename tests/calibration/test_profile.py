"""The profile of a table: learnt, used, saved, and started empty if its file is damaged."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from calibration.profile import ProfiledReader, ProfileError, TableProfile
from device.storage.files import write_file
from engine.reading import BLANK, EMPTY, BoardReading
from tests.support.examples import try_examples
from tests.support.own_tiles import LETTERS, Muddle, OwnTable, reading_of, rows_of
from vision.geometry import Image
from vision.recognition.reader import PhotoReading, ReadingTimes
from vision.recognition.views import BoardViews

MUDDLED = {"A": 0.6, "B": 0.13, "C": 0.13, BLANK: 0.13}
LARGEST = 1_000_000
VERSION_2_FILE = Path(__file__).parent / "data" / "table-version-2.npz"
"""A profile of two games (`taught`), as version 2 of the format saves it."""


def photo(board: BoardReading | None, views: BoardViews | None) -> PhotoReading:
    return PhotoReading(board, None, (), ReadingTimes(1, 1, 2), views)


def taught(path: Path | None = None) -> TableProfile:
    """Two games on one table, each seen once."""
    knowledge = TableProfile(path, Muddle())
    for game in range(2):
        laid = {game + 2 * k: LETTERS[k % 3] for k in range(18)}
        knowledge.learn(OwnTable().picture(laid, game), rows_of(laid), str(game))
    return knowledge


def doubtful() -> PhotoReading:
    """A picture of a B that the network takes for an A."""
    return photo(reading_of({100: MUDDLED}), OwnTable().picture({100: "B"}, 9))


def symbol_at_100(knowledge: TableProfile) -> str:
    board = knowledge.refine_reading(doubtful(), LETTERS).board
    assert board is not None
    return board.squares[100].symbol


def test_what_was_learnt_outlasts_the_program(tmp_path: Path) -> None:
    taught(tmp_path / "table.npz").save(write_file)
    again = TableProfile(tmp_path / "table.npz", Muddle())
    assert again.problem == ""
    assert [one.symbol for one in again.examples] == [one.symbol for one in taught().examples]
    assert symbol_at_100(again) == "B"


def test_table_profile_opens_file_of_version_2(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    path.write_bytes(VERSION_2_FILE.read_bytes())
    profile = TableProfile(path, Muddle())
    assert profile.problem == ""
    assert {one.symbol for one in profile.examples} == {"A", "B", "C"}
    assert len(profile.examples) == 24
    assert symbol_at_100(profile) == "B"


def test_the_file_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    knowledge = TableProfile(path, Muddle())
    for game in range(6):
        laid = {at: chr(0x41 + (at * 7 + game) % 60) for at in range(225)}
        knowledge.learn(OwnTable(game).picture(dict.fromkeys(laid, "A"), game), rows_of(laid), str(game))
    knowledge.save(write_file)
    assert path.stat().st_size < LARGEST


def test_unconfirmed_squares_are_not_learnt() -> None:
    knowledge = TableProfile(None, Muddle())
    rows = rows_of({100: "B"} | {at: "#" for at in range(225) if at != 100})
    knowledge.learn(OwnTable().picture({100: "B"}), rows, "1")
    assert [one.symbol for one in knowledge.examples] == ["B"]


def test_a_board_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="225 squares"):
        taught().learn(OwnTable().picture({}), [["."] * 14] * 14, "1")


def test_a_picture_without_a_board_passes_through() -> None:
    for reading in (photo(None, None), photo(reading_of({}), None)):
        assert taught().refine_reading(reading, LETTERS) is reading


def test_a_reader_that_knows_its_table_reads_what_another_could_not() -> None:
    class Fixed:
        asked: object = None

        def read(self, image: Image, tiles: object, **place: object) -> PhotoReading:
            self.asked = image, tiles, place["corners"]
            return doubtful()

    picture, reader = OwnTable().picture({}).board, Fixed()
    board = ProfiledReader(reader, taught()).read(picture, LETTERS).board
    assert reader.asked == (picture, LETTERS, None)
    assert board is not None
    assert board.squares[100].symbol == "B"


def test_table_profile_leaves_blank_or_empty_as_it_is() -> None:
    doubt = photo(reading_of({30: {BLANK: 0.5, EMPTY: 0.5}, 100: {"B": 0.9}}), OwnTable().picture({100: "B"}, 9))
    after = taught().refine_reading(doubt, LETTERS).board
    assert after is not None and doubt.board is not None
    assert after.squares[30] == doubt.board.squares[30]


@pytest.fixture(scope="module")
def good_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[bytes]:
    path = tmp_path_factory.mktemp("good") / "table.npz"
    taught(path).save(write_file)
    yield path.read_bytes()


@try_examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.floats(0, 1), at=st.floats(0, 1), byte=st.integers(0, 255))
def test_damaged_file_is_reported_and_replaced(
    good_file: bytes, tmp_path: Path, cut: float, at: float, byte: int
) -> None:
    spoilt = bytearray(good_file[: round(cut * len(good_file))] if byte % 2 else good_file)
    if spoilt:
        spoilt[min(int(at * len(spoilt)), len(spoilt) - 1)] = byte
    path = tmp_path / "table.npz"
    path.write_bytes(spoilt)
    knowledge = TableProfile(path, Muddle())
    if knowledge.problem:
        assert not knowledge.examples
        assert "damaged" in knowledge.problem
        assert not path.exists(), "set aside"
    knowledge.save(write_file)
    assert TableProfile(path, Muddle()).problem == ""


def test_fifo_in_the_place_of_a_file_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    os.mkfifo(path)
    profile = TableProfile(path, Muddle())
    assert "damaged" in profile.problem
    assert not path.exists()


@pytest.mark.parametrize("fault", [errno.EACCES, errno.EIO])
def test_file_that_cannot_be_read_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int
) -> None:
    path = tmp_path / "table.npz"
    taught(path).save(write_file)
    with monkeypatch.context() as patch:
        patch.setattr("zipfile.ZipFile", Mock(side_effect=OSError(fault, os.strerror(fault))))
        knowledge = TableProfile(path, Muddle())
        assert os.strerror(fault) in knowledge.problem
    knowledge.learn(OwnTable().picture({3: "A"}, 9), rows_of({3: "A"}), "9")
    knowledge.save(write_file)
    assert len(TableProfile(path, Muddle()).examples) == len(taught().examples)


def test_file_of_a_newer_version_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    taught(path).save(write_file)
    with np.load(path) as arrays:
        np.savez(path, **{**arrays, "version": np.array(3)})
    content = path.read_bytes()
    knowledge = TableProfile(path, Muddle())
    assert "newer Tilekeeper" in knowledge.problem and not knowledge.examples
    knowledge.save(write_file)
    assert path.read_bytes() == content


def test_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    knowledge = TableProfile(tmp_path / "gone" / "table.npz", Muddle())
    assert knowledge.problem == ""
    with pytest.raises(ProfileError, match="could not be saved"):
        knowledge.save(write_file)
