"""Comparisons leave the committed results alone, unless they are told to write there."""

import inspect

import pytest

from lga.cli import bench, bench_neuro


@pytest.mark.parametrize("command", [bench.run_bbob, bench.run_generalization, bench.run_under_coco])
def test_comparisons_write_under_runs(command):
    assert inspect.signature(command).parameters["out"].default.parts[:2] == ("runs", "bench")


def test_neuroevolution_is_written_under_runs(monkeypatch, capsys):
    folders = []
    monkeypatch.setattr(bench_neuro, "use_compilation_cache", lambda: None)
    monkeypatch.setattr(bench_neuro, "compare_on_task", lambda *arguments: folders.append(arguments[4]))
    bench_neuro.run_neuro("digits", preset="smoke")
    assert folders[0].parts == ("runs", "bench", "neuro", "smoke")
