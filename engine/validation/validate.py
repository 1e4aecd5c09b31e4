"""Validate a turn: run the checks for the source of the turn, and choose the most urgent question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from engine.ledger import Source
from engine.validation import board_checks, old_tile_checks, play_checks, turn_checks
from engine.validation.findings import Finding, Proposal, ValidationResult

Check = Callable[[Proposal], Iterator[Finding]]

_CAMERA_CHECKS: tuple[Check, ...] = (
    # Checks of the whole picture. These come first, because all other checks assume that the picture is correct.
    board_checks.check_first_board,
    board_checks.check_cleared_board,
    board_checks.check_board_identity,
    board_checks.check_finished_game,
    board_checks.check_unexplained_tiles,
    board_checks.check_orientation,
    board_checks.check_offset,
    board_checks.check_letters,
    # Checks of turns that were recorded before.
    old_tile_checks.check_removed_tiles,
    board_checks.check_pass,
    old_tile_checks.check_old_tiles,
    # Checks of the new play.
    turn_checks.check_seat,
    turn_checks.check_missed_press,
    play_checks.check_rack,
    play_checks.check_marked_blank,
    play_checks.check_words,
    play_checks.check_word_ends,
    play_checks.check_closed_letters,
)
_HAND_CHECKS: tuple[Check, ...] = (
    play_checks.check_position,
    play_checks.check_record,
    play_checks.check_exchanges,
    turn_checks.check_withdrawn_play,
    turn_checks.check_order,
    turn_checks.check_seat,
    play_checks.check_rack,
)

_IMPORT_CHECKS: tuple[Check, ...] = (
    play_checks.check_record,
    play_checks.check_exchanges,
    play_checks.check_rack,
    play_checks.check_imported_blanks,
)

CHECKS: Mapping[Source, tuple[Check, ...]] = MappingProxyType(
    {
        Source.PRESS: _CAMERA_CHECKS,
        Source.AUTOMATIC: _CAMERA_CHECKS,
        Source.HAND: _HAND_CHECKS,
        Source.IMPORT: _IMPORT_CHECKS,  # an import has no questions, only notices
    }
)
"""The checks for each source of a turn, the most urgent check first."""


def validate_turn(proposal: Proposal) -> ValidationResult:
    """Run all checks for the source of a turn. The function has no side effects and takes milliseconds.

    The first question is returned. Until the players answer it, the events of its first option count. An imported game
    has no questions: they become notices.
    """
    findings = [finding for check in CHECKS[proposal.source] for finding in check(proposal)]
    if proposal.source is Source.IMPORT:
        findings = [replace(finding, options=()) for finding in findings]
    question = next((finding for finding in findings if finding.options), None)
    events = question.options[0].events if question else proposal.events
    return ValidationResult(events, question, tuple(finding for finding in findings if not finding.options))
