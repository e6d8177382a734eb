import time

from domain.ids import new_id, parse_id


def test_ids_are_version_7_and_grow_with_time() -> None:
    first = new_id()
    time.sleep(0.002)
    second = new_id()
    assert first.version == second.version == 7
    assert first.variant == "specified in RFC 4122"
    assert first < second


def test_ids_of_one_millisecond_are_in_order_too() -> None:
    made = []
    for _ in range(200):
        made.append(new_id())
        until = time.perf_counter_ns() + 2_000
        while time.perf_counter_ns() < until:
            pass
    assert made == sorted(made)
    assert len({made_id.int >> 80 for made_id in made}) < len(made)


def test_a_malformed_id_is_none() -> None:
    made = new_id()
    assert parse_id(str(made)) == parse_id(str(made).upper()) == made
    # All of which Python takes for a UUID.
    for text in ("nothing", made.hex, f"{{{made}}}", made.urn, f"{made}\n", "０" + str(made)[1:]):
        assert parse_id(text) is None
