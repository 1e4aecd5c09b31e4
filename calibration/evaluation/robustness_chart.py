"""Draw the robustness chart of the documentation as a PNG file. Needs matplotlib (`pip install '.[train]'`)."""

from __future__ import annotations

from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from calibration.evaluation.robustness import Curves

_LINE_COLOURS = {
    "letters right": "#1f5fa8",
    "turns scored without a question": "#2a8a4a",
    "turns asked about": "#d08a1c",
}
_LINE_STYLES = ("-", "--")
_EARLIER_COLOUR = "#b9a6cf"


def draw_chart(curves: Curves, path: Path, earlier: Curves | None) -> None:
    """Draw a PNG file with one panel for each disturbance.

    A panel shows three shares by level: of correct letters, of scored turns and of turns with a question. A cross marks
    a level at which a wrong total was accepted. Each kind of picture has its own line style. If `earlier` is given, the
    shares of letters in this earlier measurement are drawn as well.
    """
    names = list(dict.fromkeys(d.name for kind in curves.values() for d, _ in kind))
    columns = 4
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(3.1 * columns, 2.6 * rows + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    for at, name in enumerate(names):
        axes = figure.add_subplot(rows, columns, at + 1)
        for style, group in zip(_LINE_STYLES, curves, strict=False):
            for before in (levels for d, levels in (earlier or {}).get(group, ()) if d.name == name):
                letters = [100 * level.letters for level in before]
                axes.plot([level.level for level in before], letters, style, color=_EARLIER_COLOUR, lw=3)
        for style, kind in zip(_LINE_STYLES, curves.values(), strict=False):
            for disturbance, levels in kind:
                if disturbance.name != name:
                    continue
                x = [level.level for level in levels]
                drawn = ([v.letters for v in levels], [v.scored for v in levels], [v.asked for v in levels])
                for colour, y in zip(_LINE_COLOURS.values(), drawn, strict=True):
                    axes.plot(x, [100 * value for value in y], style, color=colour, marker=".", lw=1.4)
                for level in levels:
                    if level.wrong:
                        axes.plot([level.level], [2], "x", color="#c0202a", ms=8, mew=2)
                axes.set_title(f"{name} ({disturbance.unit})", fontsize=9)
                axes.axvline(disturbance.neutral_level, color="#bbbbbb", lw=0.7, zorder=0)
        axes.set_ylim(-4, 104)
        axes.grid(alpha=0.25)
        axes.tick_params(labelsize=8)
        if at % columns == 0:
            axes.set_ylabel("per cent", fontsize=8)
    lines = [Line2D([], [], color=colour, label=label) for label, colour in _LINE_COLOURS.items()]
    if earlier:
        lines.append(Line2D([], [], color=_EARLIER_COLOUR, lw=3, label="letters right before"))
    lines += [Line2D([], [], color="black", ls=s, label=group) for s, group in zip(_LINE_STYLES, curves, strict=False)]
    lines.append(Line2D([], [], color="#c0202a", marker="x", ls="", mew=2, label="a wrong total accepted"))
    figure.legend(handles=lines, loc="outside lower center", ncols=len(lines), fontsize=9, frameon=False)
    figure.savefig(path, dpi=90)
