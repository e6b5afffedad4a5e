from bench.zero import ZERO
from lga.bench.bbob import BbobProtocol, roster


def test_methods_of_the_comparison_have_names_and_populations_of_their_own():
    protocol = BbobProtocol()
    sizes = {method.name: protocol.size_of(method).num_children for method in roster(protocol, [ZERO])}
    assert sizes.pop("zero, untuned, population 16") == 16
    assert sizes.pop("CMA-ES, default population") == 12
    assert set(sizes.values()) == {32}
    assert {"zero", "zero, untuned", "CMA-ES", "random search"} <= set(sizes)


def test_what_is_shipped_is_not_tuned_and_strategies_have_a_wider_grid():
    grids = {method.name: len(method.settings) for method in roster(BbobProtocol(), [ZERO])}
    assert (grids["zero"], grids["zero, untuned"], grids["SAMR-GA"], grids["CMA-ES"]) == (30, 1, 30, 6)
