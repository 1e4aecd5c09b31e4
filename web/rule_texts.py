"""Texts for the list of the current game's rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from device.session.rule_choices import VARIATIONS
from device.session.snapshot import TableSnapshot
from engine.rules import PRESETS, ChallengeRule, Rules
from web.i18n import Texts


def list_rule_texts(state: TableSnapshot, t: Texts) -> tuple[tuple[str, str], ...]:
    """Return the rules of the current game as (name, value) texts, or an empty result before the first game."""
    rules = state.rules
    if rules is None:
        return ()
    return tuple((t(key), text) for key, text in _generate_texts(state, rules, t))


def _generate_texts(state: TableSnapshot, rules: Rules, t: Texts) -> Iterator[tuple[str, str]]:
    preset = next(
        (name for name, preset in PRESETS.items() if replace(preset, list_decides=rules.list_decides) == rules),
        rules.edition,
    )
    yield "new.preset", t(f"new.presets.{preset}")
    is_shipped = state.lexicon == state.tile_set  # a word list shipped with the program has the name of its tile set
    yield "new.lexicon", t("rules.shipped") if is_shipped else state.lexicon or t("new.lexicon_none")
    yield "new.dictionary", t("new.dictionary_open" if rules.open_dictionary else "new.dictionary_closed")
    yield "rules.challenge", _describe_challenge(rules, t)
    if rules.challenge is not ChallengeRule.VOID:
        decides = state.lexicon is not None and rules.list_decides and not state.lexicon_advises
        yield "new.judge", t("new.judges.list" if decides else "new.judges.players")
    any_bag = rules.exchange_minimum_bag == 0
    yield "new.exchange", t("new.exchange_any") if any_bag else t("rules.bag", count=rules.exchange_minimum_bag)
    yield "new.first_word", t("new.letters", count=rules.first_word_minimum)
    yield "rules.bonus", t("rules.bonus_for", count=rules.bingo_tiles, points=rules.bingo_bonus, rack=rules.rack_size)
    yield "new.unplayed", t(f"new.unplayed_ways.{rules.unplayed}")
    if rules.scoreless_turns:
        yield "rules.scoreless", str(rules.scoreless_turns)
    if state.finish_lines:
        lines = zip(state.players, state.finish_lines, strict=True)
        yield "new.finish", ", ".join(f"{player.name} {points}" for player, points in lines)
        if rules.finish_round:
            yield "new.finish", t("new.finish_round")
        if rules.finish_unplayed:
            yield "new.finish", t("new.finish_unplayed")
    if rules.clock_seconds:
        minutes = rules.clock_seconds // 60
        yield "rules.clock", t("rules.clock_for", minutes=minutes, points=rules.overtime_points)
    for variation in VARIATIONS:
        if getattr(rules, variation):
            yield "rules.variation", t(f"new.variations.{variation}")


def _describe_challenge(rules: Rules, t: Texts) -> str:
    if rules.challenge is not ChallengeRule.POINTS:
        return t(f"new.challenges.{rules.challenge}")
    payer = "challenger" if rules.challenger_pays else "challenged"
    each = "word" if rules.challenge_each_word else "play"
    return t(f"rules.points.{payer}_{each}", points=rules.challenge_points)
