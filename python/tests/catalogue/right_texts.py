"""Ten small right engines that generate texts: one text or several requests, with state, end tokens, grammars and
settings."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import test_gate
import test_request_settings
import test_requests


class RightText(NamedTuple):
    style: str
    generate: Any
    declared: dict[str, Any]


@functools.cache
def right_texts() -> tuple[RightText, ...]:
    settings = {"requests": True, "settings": test_request_settings.EVERY, "end_tokens": [test_request_settings.END]}
    serving = {"requests": True}
    return (
        RightText("one text", test_gate.whole_text(), {}),
        RightText("one text, two tokens of memory", test_gate.whole_text(2), {"memory": 2}),
        RightText("one text that ends", test_gate.whole_text(end=1), {"end_tokens": [1]}),
        RightText("requests one after another", test_requests.engine(1), serving),
        RightText("requests that are preempted", test_requests.engine(8, preempts=True), serving),
        RightText("grammar", test_requests.engine(3, preempts=True), serving | {"grammar": True}),
        RightText("early ends", test_requests.short(""), serving | {"end_tokens": [test_requests.END]}),
        RightText("cache of blocks", test_requests.cached(True, 16), serving),
        RightText("greedy", test_requests.greedy(lambda row: int(row.argmax())), serving | {"greedy": "first"}),
        RightText("settings", test_request_settings.engine(3, preempts=True), settings),
    )
