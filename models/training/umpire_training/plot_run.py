"""Loss and development figures of a run by millions of tokens, as one SVG.

    python -m umpire_training.plot_run --log runs/kev/log.jsonl --out ../../bench/results/training-kev.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from xml.sax.saxutils import escape

SHOWN = ["heldout mean over tasks", "entailment", "entailment ranked", "passages", "sentiment exact", "scope out found", "scope in kept", "spam",
         "written choice", "written noul", "written score", "written pairs"]
COLOURS = ["#000000", "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf", "#393b79"]
WIDTH, HEIGHT, LEFT, TOP, LEGEND = 620, 300, 50, 30, 210

Points = list[tuple[float, float]]


def read(log: Path) -> tuple[Points, dict[str, Points]]:
    """-> (million tokens, loss) of every line, and the same of every figure shown"""
    losses, figures = [], {name: [] for name in SHOWN}
    for line in log.read_text().splitlines():
        row = json.loads(line)
        if "loss" in row:
            losses.append((row["tokens"] / 1e6, row["loss"]))
        for name in SHOWN:
            if name in row.get("dev", {}):
                figures[name].append((row["tokens"] / 1e6, row["dev"][name]))
    return smoothed(losses), figures


def smoothed(points: Points, share: float = 0.15) -> Points:
    found, value = [], None
    for place, loss in points:
        value = loss if value is None else value + share * (loss - value)
        found.append((place, value))
    return found


def panel(title: str, lines: dict[str, Points], top: int, furthest: float) -> list[str]:
    values = [value for points in lines.values() for _, value in points]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    low, high = (int(low * 10) / 10, int(high * 10 + 1) / 10)

    def at(place: float, value: float) -> str:
        return f"{LEFT + place / furthest * WIDTH:.1f},{top + HEIGHT - (value - low) / (high - low) * HEIGHT:.1f}"

    drawn = [f'<text x="{LEFT}" y="{top - 10}" font-weight="bold">{escape(title)}</text>',
             f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>']
    for step in range(6):
        value, y = low + (high - low) * step / 5, top + HEIGHT - HEIGHT * step / 5
        drawn.append(f'<text x="{LEFT - 6}" y="{y + 4:.0f}" text-anchor="end">{value:.2f}</text>')
        drawn.append(f'<text x="{LEFT + WIDTH * step / 5:.0f}" y="{top + HEIGHT + 16}" text-anchor="middle">{furthest * step / 5:.1f}</text>')
    for number, (name, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        if points:
            drawn.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{" ".join(at(*point) for point in points)}"/>')
            drawn.append(f'<text x="{LEFT + WIDTH + 12}" y="{top + 14 + 18 * number}" fill="{colour}">{escape(name)} {points[-1][1]:.3f}</text>')
    return drawn


def svg(losses: Points, figures: dict[str, Points]) -> str:
    furthest = max([place for place, _ in losses] + [0.1])
    second = TOP + HEIGHT + 70
    parts = panel("training loss", {"loss": losses}, TOP, furthest) + panel("development figures, by million tokens", figures, second, furthest)
    size = f'width="{LEFT + WIDTH + LEGEND}" height="{second + HEIGHT + 30}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, default=Path("runs/kev/log.jsonl"))
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.write_text(svg(*read(args.log)))


if __name__ == "__main__":
    main()
