import json

import pytest

from experiments.tables import filled, markdown_table


def test_blocks_are_filled_from_their_file_and_the_rest_stays(tmp_path):
    times = {"noise_ms": 1.0, "lga_ms": 2.0, "lga_jax_ms": 3.0, "lga_shape_ms": 4.0, "evosax_ms": 8.0}
    rows = [{"N": 32, "D": 20, **times}]
    (tmp_path / "speed.json").write_text(json.dumps(rows))
    page = "before\n<!-- begin generation speed.json -->\nold\n<!-- end -->\nafter\n"
    result = filled(page, tmp_path)
    assert result.startswith("before\n<!-- begin generation speed.json -->\n| N | D |")
    assert result.endswith("<!-- end -->\nafter\n")
    assert "| 32 | 20 | 1 | 2 | 3 | 4 | 8 | 4.0 |" in result
    assert filled(result, tmp_path) == result


def test_a_block_without_a_renderer_is_an_error(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(KeyError, match="nonsense"):
        filled("<!-- begin nonsense x.json -->\n<!-- end -->", tmp_path)


def test_markdown_tables_have_a_rule_under_the_header():
    assert markdown_table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
