from lga.bench.bbob import Protocol, hand_designed, learned_entries
from lga.operators.fold import theta_layout
from lga.operators.theta import ThetaConfig


def test_no_method_has_more_evaluations_than_the_protocol_and_none_lacks_a_generation():
    protocol = Protocol()
    entries = [*learned_entries(protocol, {"zero": theta_layout(ThetaConfig())}, 0.25), *hand_designed(protocol)]
    sizes = {entry.method.name: entry.num_children for entry in entries}
    assert (sizes["zero, untuned, population 16"], sizes["CMA-ES, default population"]) == (16, 12)
    allowed = protocol.num_children * (protocol.num_generations + 1)
    for entry in entries:
        used = entry.num_children * (entry.num_generations + 1)
        assert allowed - entry.num_children < used <= allowed
