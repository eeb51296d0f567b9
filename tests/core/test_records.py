"""Records: frozen, keyword only, and plain enough to print as JSON and to travel between processes."""

import dataclasses
import json
import math
import pickle

import pytest

from vmodel.core import records
from vmodel.solve.ask import predict

ALL = [r for r in vars(records).values() if dataclasses.is_dataclass(r)]


@pytest.mark.parametrize("record", ALL, ids=lambda r: r.__name__)
def test_records_are_frozen_slotted_and_keyword_only(record):
    assert record.__dataclass_params__.frozen and hasattr(record, "__slots__")
    assert all(field.kw_only for field in dataclasses.fields(record))
    assert record.__doc__


def test_an_offered_load_is_as_fast_as_possible_unless_said():
    assert records.Load() == records.Load(kind="max", value=math.inf)


@pytest.mark.parametrize("workload", ["rr", "stream", "packets"])
def test_a_prediction_becomes_json_and_travels(workload):
    answer = predict("virtio-vhost", workload=workload)
    text = json.dumps(dataclasses.asdict(answer))
    assert json.loads(text)["latency_s"] == answer.latency_s
    assert pickle.loads(pickle.dumps(answer)) == answer
