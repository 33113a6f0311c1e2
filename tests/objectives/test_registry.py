"""Tables of plugs."""

import pytest

from w2vneg.ground.errors import ConfigError, UnknownNameError
from w2vneg.ground.registry import Registry
from w2vneg.objectives.losses import LOSSES
from w2vneg.objectives.samplers import SAMPLERS
from w2vneg.objectives.weighers import WEIGHERS


@pytest.fixture
def table():
    table = Registry("loss")
    table.register("ns")(int)
    table.register("relaxed")(float)
    return table


def test_entries_are_found_and_listed_in_order(table):
    assert table["ns"] is int
    assert "ns" in table and "nce" not in table
    assert list(table) == ["ns", "relaxed"]
    assert {name: table[name] for name in table} == {"ns": int, "relaxed": float}


def test_an_unknown_name_is_answered_with_near_and_known_ones(table):
    with pytest.raises(UnknownNameError) as caught:
        table["relaxd"]
    assert str(caught.value) == "unknown loss 'relaxd'; did you mean 'relaxed'? Known: ns, relaxed."
    with pytest.raises(UnknownNameError, match=r"^unknown loss None\. Known"):
        table[None]


def test_register_returns_its_argument_and_refuses_a_second_plug(table):
    class Plug:
        pass

    assert table.register("plug")(Plug) is Plug
    assert table.register("plug")(Plug) is Plug
    with pytest.raises(ConfigError, match="a loss named 'plug' is registered already; choose another name"):
        table.register("plug")(int)
    assert table["plug"] is Plug
    table.unregister("plug")
    table.unregister("plug")
    assert table.register("plug")(int) is int


@pytest.mark.parametrize(
    ("table", "names"),
    [
        (LOSSES, {"ns", "relaxed"}),
        (SAMPLERS, {"uniform", "popularity", "boltzmann"}),
        (WEIGHERS, {"none", "importance"}),
    ],
    ids=["losses", "samplers", "weighers"],
)
def test_what_the_issue_names_is_there(table, names):
    assert names <= set(table)
