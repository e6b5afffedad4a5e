"""Tables of the documentation, filled from the files under `results/`.

A block `<!-- begin NAME FILE -->` … `<!-- end -->` of a page holds what the renderer NAME makes of the JSON in FILE.
`python -m experiments tables` fills the blocks of all pages; a test checks that they are up to date.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from rich.console import Console

from experiments import hpo_choice, hpo_random
from experiments.comparison_tables import COMPARISONS
from experiments.form import Experiment, Outcome
from experiments.markdown import markdown_table
from experiments.network_tables import NETWORKS
from experiments.study_tables import STUDIES
from experiments.user_tables import USERS
from lga.bench import neuro as neuro_report
from lga.bench.hpob import report as hpob_report
from lga.bench.statistics import interval_text

BLOCK = re.compile(r"(<!-- begin (?P<name>\w+) (?P<file>\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def quickstart(report: dict[str, Any]) -> str:
    ours = report["rows"][0]

    def row(entry: dict[str, Any]) -> list[str]:
        against = "" if entry is ours else interval_text(entry["ours_minus_theirs"], 2, signed=True)
        won = "" if entry is ours else f"{entry['functions_won_by_ours']} of {report['num_functions']}"
        return [entry["method"], f"{entry['mean_log10_gap']:.2f}", against, won]

    difference = "learned GA minus method (95 %, over functions)"
    header = ["method", "mean log10 gap", difference, "functions won by the learned GA"]
    return markdown_table(header, map(row, sorted(report["rows"], key=lambda entry: entry["mean_log10_gap"])))


def generation(rows: list[dict[str, Any]]) -> str:
    times = {
        "noise_ms": "`jax.random.normal`, ms",
        "lga_ms": "lga native, ms",
        "lga_jax_ms": "lga JAX, ms",
        "lga_shape_ms": "lga-2 (with shape) native, ms",
        "evosax_ms": "evosax, ms",
    }
    header = ["N", "D", *times.values(), "evosax / lga native"]
    return markdown_table(
        header,
        (
            [
                f"{row['N']:,}",
                f"{row['D']:,}",
                *(f"{row[name]:.3g}" for name in times),
                f"{row['evosax_ms'] / row['lga_ms']:.1f}",
            ]
            for row in rows
        ),
    )


def meta_training(figures: dict[str, Any]) -> str:
    rates = figures["inner_generations_per_second"]
    base = rates["evosax, 1 core"]
    rows = ([name, f"{rate:,.0f}", f"{rate / base:.1f}"] for name, rate in rates.items())
    return markdown_table(["", "inner generations per second", "ratio to evosax"], rows)


def bbob_evaluations(report: dict[str, Any]) -> str:
    rows = (
        [outcome["library"], f"{outcome['evaluations_per_second']:,.0f}", f"{outcome['lga_is_faster_by']:.1f}"]
        for outcome in report["outcomes"]
    )
    return markdown_table(["library", "evaluations per second", "lga is faster by"], rows)


def start_up(report: dict[str, Any]) -> str:
    waited, used = report["seconds"], report["processor_seconds"]
    base = used["import jax"]
    rows = ([name, f"{waited[name]:.2f}", f"{own:.2f}", f"{own / base:.1f}"] for name, own in used.items())
    return markdown_table(["in a new process", "seconds", "of processors", "ratio to importing JAX"], rows)


def overhead(report: dict[str, Any]) -> str:
    methods = list(report["rows"][0]["microseconds"])
    rows = (
        [str(row["num_dims"]), f"{row['evaluations']:,}", *(f"{row['microseconds'][method]:.0f}" for method in methods)]
        for row in report["rows"]
    )
    return markdown_table(["D", "evaluations", *methods], rows)


def bbob_comparison(report: dict[str, Any]) -> str:
    """All methods by mean gap; differences and functions won are those of the first method of the report."""
    first = report["rows"][0]

    def row(entry: dict[str, Any]) -> list[str]:
        others = [value for name, value in entry["per_function"].items() if name != "linear_slope"]
        cells = [
            entry["method"],
            f"{entry['elite_ratio']:g}, {entry['sigma0']:g}",
            interval_text(entry["mean_log10_gap"], 3),
            f"{sum(others) / len(others):.3f}",
            f"{entry['train_functions']:.3f}",
            f"{entry['hold_out_functions']:.3f}",
            f"{entry['mean_rank']:.1f}",
        ]
        if entry is first:
            return [*cells, "", ""]
        won = f"{entry['hold_out_won_by_first']} of {report['num_hold_out']}"
        return [*cells, interval_text(entry["first_minus_this"], 3, signed=True), won]

    header = [
        "method",
        "rho, sigma0",
        "mean log10 gap (95 %, over instances)",
        "without f5",
        "training functions",
        "held-out functions",
    ]
    header += [
        "mean rank",
        f"{first['method']} minus method (95 %, over instances)",
        f"held-out functions won by {first['method']}",
    ]
    return markdown_table(header, map(row, sorted(report["rows"], key=lambda entry: entry["mean_log10_gap"]["mean"])))


def bbob_headline(report: dict[str, Any]) -> str:
    """The comparison in short."""
    first = report["rows"][0]

    def row(entry: dict[str, Any]) -> list[str]:
        against = interval_text(entry["first_minus_this"], 2, signed=True)
        return [entry["method"], f"{entry['mean_log10_gap']['mean']:.2f}", "" if entry is first else against]

    header = ["method", "mean log10 gap", f"{first['method']} minus method (95 %, over instances)"]
    return markdown_table(header, map(row, sorted(report["rows"], key=lambda entry: entry["mean_log10_gap"]["mean"])))


def bbob_functions(report: dict[str, Any]) -> str:
    """Mean log10 gap of every method on every function."""
    rows = report["rows"]
    return markdown_table(
        ["function", *(row["method"] for row in rows)],
        ([name, *(f"{row['per_function'][name]:.2f}" for row in rows)] for name in rows[0]["per_function"]),
    )


def additions(report: dict[str, Any]) -> str:
    ends = report["meta_generations"][-1]
    return markdown_table(
        ["what is learned, and what training moves", f"validation score after {ends} meta-generations, each seed"],
        ([row["variant"], ", ".join(f"{scores[-1]:.3f}" for scores in row["scores"])] for row in report["rows"]),
    )


def shape_parts(report: dict[str, Any]) -> str:
    """The mean over seeds with its deviation, over all scales and at each of them."""

    def over_seeds(scores: Iterable[float]) -> str:
        values = list(scores)
        return f"{mean(values):.2f} ± {stdev(values):.2f}" if len(values) > 1 else f"{values[0]:.2f}"

    scales = list(report["rows"][0]["per_scale"][0])
    return markdown_table(
        ["what is left out", "all scales", *scales, "seeds"],
        (
            [
                row["variant"],
                over_seeds(scores[-1] for scores in row["scores"]),
                *(over_seeds(seed[scale] for seed in row["per_scale"]) for scale in scales),
                str(len(row["scores"])),
            ]
            for row in report["rows"]
        ),
    )


def many_variables(report: dict[str, Any]) -> str:
    def row(entry: dict[str, Any]) -> list[str]:
        difference = "" if entry["method"] == "lga-2" else interval_text(entry["ours_minus_this"], 2, signed=True)
        return [str(entry["num_dims"]), entry["method"], f"{entry['mean_log10_gap']:.2f}", difference]

    header = ["D", "method", "mean log10 gap", "lga-2 minus method (95 %, over functions)"]
    return markdown_table(header, map(row, report["rows"]))


def training_runs(runs: list[dict[str, Any]]) -> str:
    def span(pair: list[Any]) -> str:
        return str(pair[0]) if len(set(pair)) == 1 else f"{pair[0]} to {pair[-1]}"

    def tasks(settings: dict[str, Any]) -> str:
        # Rows of runs from before there were scales have none.
        if scales := settings.get("scales"):
            return ", ".join(scales)
        return f"D {span(settings['dims'])}, N {span(settings['num_children'])}, T {span(settings['num_generations'])}"

    def larger(validation: dict[str, Any] | None) -> str:
        if validation is None:
            return ""
        parts = ", ".join(f"{score:.2f}" for score in validation["per_scale"].values())
        return f"{validation['score']:.3f} ({parts})"

    def particulars(settings: dict[str, Any]) -> Iterator[str]:
        yield f"seed {settings['seed']}"
        if settings["family"] != ["large"]:
            yield f"functions {', '.join(settings['family'])}"
        if settings["noise"] == ["none"]:
            yield "no noise"
        yield f"{settings['normalization']} of {settings['objective']}"
        if settings.get("elite_ratio", 1.0) != 1.0:
            yield f"elite ratio {settings['elite_ratio']:g}"
        if settings["mean_decay"]:
            yield f"lambda {settings['mean_decay']:g}"
        if settings["averaging"]:
            yield f"averaged ({settings['averaging']:g})"

    def row(run: dict[str, Any]) -> list[str]:
        settings = run["settings"]
        return [
            run["run"],
            ", ".join(settings["learned"]),
            f"{settings['search_space']}, {settings['optimizer']}",
            f"{settings['meta_population']} x {settings['num_tasks']}",
            tasks(settings),
            ", ".join(particulars(settings)),
            f"{run['meta_generations']} ({run['million_inner_generations']:.0f} million, {run['minutes']:.0f} min)",
            f"{run['score']:.3f} at {run['best_meta_generation']}",
            *(larger(run["larger_validation"].get(name)) for name in ("best", "final")),
        ]

    header = ["run", "learned", "search space, optimiser", "M x J", "training tasks", "in particular"]
    header += ["meta-generations (inner generations, time)", "best score in the run"]
    header += ["larger validation of the best weights (5-D, 20-D)", "of the last weights"]
    return markdown_table(header, map(row, runs))


def generalization(report: dict[str, Any]) -> str:
    """Ours minus the best tuned baseline in each cell."""
    dims = report["grid"]["dims"]
    cells = {(cell["num_children"], cell["num_dims"]): cell["minus_best_baseline"] for cell in report["cells"]}
    return markdown_table(
        ["population size", *(f"D = {d}" for d in dims)],
        ([str(n), *(interval_text(cells[n, d], 2, signed=True) for d in dims)] for n in report["grid"]["populations"]),
    )


def horizons(report: dict[str, Any]) -> str:
    methods = list(report["horizons"][0]["mean_log10_gap"])

    def row(entry: dict[str, Any]) -> list[str]:
        difference = interval_text(entry["minus_best_baseline"], 2, signed=True)
        gaps = [f"{entry['mean_log10_gap'][method]:.2f}" for method in methods]
        return [str(entry["num_generations"]), *gaps, f"{difference} ({entry['best_baseline']})"]

    difference = f"{report['weights']} minus the best of the others (95 %, over functions)"
    return markdown_table(["generations", *methods, difference], map(row, report["horizons"]))


def neuro(report: dict[str, Any]) -> str:
    scale = report["scale"]
    judged, tested = scale["task"]["num_evaluations"], scale["task"]["num_tests"]
    # A data set may have fewer test images.
    tests = f"up to {tested:,} images" if report["score"] == "test accuracy" else f"{tested:,} episodes"
    rates = " or ".join(f"{sigma:g}" for sigma in scale["sigmas"])
    settings = (
        f"{report['num_weights']:,} weights, {report['num_seeds']} seeds; {scale['num_children']} children, "
        f"{scale['num_generations']} generations, initial rate {rates}; judged by {judged:,} and tested by "
        f"{tests}. {report['note']}"
    )
    table = markdown_table(neuro_report.table_header(report), neuro_report.table_rows(report))
    return f"{settings.strip()}\n\n{table}"


def hpob(report: dict[str, Any]) -> str:
    return markdown_table(hpob_report.table_header(report), hpob_report.table_rows(report))


def hpob_spaces(report: dict[str, Any]) -> str:
    return markdown_table(hpob_report.space_header(report), hpob_report.space_rows(report))


def hpob_choice(report: dict[str, Any]) -> str:
    return markdown_table(hpo_choice.header(), map(hpo_choice.cells, report["rows"]))


def hpob_random(report: dict[str, Any]) -> str:
    return markdown_table(hpo_random.header(), map(hpo_random.cells, report["rows"]))


def attack(report: dict[str, Any]) -> str:
    counts = report["counts"]

    def listed(name: str) -> str:
        return ", ".join(f"{kind} {number:,}" for kind, number in counts[name].items())

    refused = sum(number for name, number in counts["mutations"].items() if name.endswith(", refused"))
    formats = len({name.rpartition(", ")[0] for name in counts["mutations"]})
    rows = [
        ["faults injected and counted", f"{report['total_faults']:,} of {len(counts['faults'])} kinds"],
        ["searches with them", listed("searches")],
        ["kills", f"{report['total_kills']:,} ({listed('kills')})"],
        ["killed and resumed until done, to the same bits", f"{report['total_resumed']:,} pieces of work"],
        ["changed files", f"{report['total_mutations']:,} of {formats} formats, {refused:,} of them refused"],
        ["promises broken", f"{report['total_broken']:,}"],
    ]
    return markdown_table(["attack", "count"], rows)


RENDERERS: dict[str, Callable[[Any], str]] = {
    **COMPARISONS,
    "attack": attack,
    "quickstart": quickstart,
    "generation": generation,
    "meta_training": meta_training,
    "start_up": start_up,
    "overhead": overhead,
    "bbob_evaluations": bbob_evaluations,
    "bbob_comparison": bbob_comparison,
    "bbob_headline": bbob_headline,
    "bbob_functions": bbob_functions,
    "additions": additions,
    "shape_parts": shape_parts,
    "many_variables": many_variables,
    "training_runs": training_runs,
    "generalization": generalization,
    "horizons": horizons,
    "neuro": neuro,
    "hpob": hpob,
    "hpob_spaces": hpob_spaces,
    "hpo_choice": hpob_choice,
    "hpo_random": hpob_random,
    **STUDIES,
    **USERS,
    **NETWORKS,
}


def filled(page: str, root: Path) -> str:
    """The page with all of its blocks as the results have them now."""

    def fill(block: re.Match[str]) -> str:
        content = RENDERERS[block["name"]](json.loads((root / block["file"]).read_text()))
        return f"{block[1]}{content}{block[4]}"

    return BLOCK.sub(fill, page)


def pages(root: Path) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


@dataclass(frozen=True)
class TablesSettings:
    """There is nothing to set: `out` is the root of the repository."""


def run(settings: TablesSettings, out: Path, console: Console) -> Outcome:
    for page in pages(out):
        page.write_text(filled(page.read_text(), out))
    return Outcome()


EXPERIMENT = Experiment(
    "no experiment: fills the tables of the documents from the files under results/",
    {"paper": TablesSettings()},
    run,
    out=Path("."),
)
