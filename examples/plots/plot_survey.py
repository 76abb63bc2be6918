"""Plots acceptance against the number of drafts from the CSV or JSON Lines of a survey.

    draftproof survey run.npz -K 1,2,4,8 --format csv -o survey.csv
    python3 examples/plots/plot_survey.py survey.csv acceptance.png

It needs matplotlib; without it, or without a picture to write, it prints the same numbers as a table.
"""
import csv
import json
import pathlib
import sys


def rows_of(path):
    """Returns the rows as dictionaries; numbers from CSV are strings."""
    text = pathlib.Path(path).read_text()
    if path.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(text.splitlines()))


def number(row, column):
    value = row.get(column)
    return None if value in (None, "") else float(value)


def lines_of(rows):
    """Returns {(source, distribution): {verifier: [(K, rate, low, high, optimum)]}}, without rows that did not run."""
    lines = {}
    for row in rows:
        rate = number(row, "draft_emitted.rate")
        if rate is None:
            continue
        point = (int(row["drafts"]), rate, number(row, "draft_emitted.low"), number(row, "draft_emitted.high"),
                 number(row, "optimum"))
        lines.setdefault((row["source"], row["draft_sampling"]), {}).setdefault(row["verifier"], []).append(point)
    return lines


def print_table(lines):
    for (source, distribution), verifiers in lines.items():
        print(f"{source}, {distribution} drafts")
        for verifier, points in verifiers.items():
            print(f"  {verifier:30}", "  ".join(f"K={point[0]} {point[1]:.4f}" for point in sorted(points)))


def plot(lines, picture):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(lines), 1, figsize=(7, 4 * len(lines)), squeeze=False)
    for axis, ((source, distribution), verifiers) in zip(axes[:, 0], lines.items(), strict=True):
        roof = {}
        for (verifier, points), mark in zip(verifiers.items(), "osd^v*xp+<>" * len(verifiers), strict=False):
            points.sort()
            drafts, rates, lows, highs, _ = zip(*points, strict=True)
            below = [rate - low for rate, low in zip(rates, lows, strict=True)]
            above = [high - rate for rate, high in zip(rates, highs, strict=True)]
            axis.errorbar(drafts, rates, yerr=[below, above], marker=mark, capsize=3, label=verifier)
            roof.update({point[0]: point[4] for point in points if point[4] is not None})
        if roof:
            axis.plot(sorted(roof), [roof[k] for k in sorted(roof)], color="black", linewidth=2.5, label="optimum")
        axis.set_xticks(sorted({point[0] for points in verifiers.values() for point in points}))
        axis.set(title=f"{source}, {distribution} drafts", xlabel="K, drafts", ylabel="acceptance probability")
        axis.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(picture)


if __name__ == "__main__":
    surveyed = lines_of(rows_of(sys.argv[1]))
    try:
        plot(surveyed, sys.argv[2])
    except (ImportError, IndexError):
        print_table(surveyed)
