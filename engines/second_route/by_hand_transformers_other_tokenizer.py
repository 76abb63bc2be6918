"""transformers without the gate: an assistant with one token more than the target, and the first token of many texts.

    python engines/second_route/by_hand_transformers_other_tokenizer.py

As read: the assistant's head keeps the tokens that both vocabularies have, in the order in which the tokenizer names
them. Its logits are then given to the shared tokens in ascending order. The tokenizer's order is that of a hash table,
so it differs from one tokenizer to the next.
"""

from __future__ import annotations

import sys
from fractions import Fraction as F
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from transformers.generation.candidate_generator import AssistantVocabTranslatorCache
from transformers.utils import logging

from draftproof.engines import discover

discover()["transformers-generate"].enter()
adapter = sys.modules["draftproof_engine_transformers_generate"]
logging.set_verbosity_error()
torch.manual_seed(1)
torch.set_num_threads(1)
TEXTS = 4000
p, q, extra = [F(1, 2), F(1, 2)], [F(3, 4), F(1, 4)], 0.2


def tokenizer(words: list[str]) -> Any:
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token=words[0]))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=made)


def rule(used: list[F]) -> list[F]:
    """Law of the first token where drafts have law q and are tested against `used`."""
    accept = [min(F(1), p[x] / used[x]) for x in range(2)]
    left = [max(F(0), p[x] - used[x]) for x in range(2)]
    refused = sum(q[x] * (1 - accept[x]) for x in range(2))
    return [q[x] * accept[x] + (refused * left[x] / sum(left) if refused else 0) for x in range(2)]


print("p", [str(x) for x in p], "q", [str(x) for x in q])
seen: set[tuple[int, ...]] = set()
while len(seen) < 2:
    target = adapter.table_model(torch, [[float(x) for x in p]] * 2)
    row = [float(x) * (1 - extra) for x in q] + [extra]
    assistant = adapter.table_model(torch, [row] * 3)
    given = {"tokenizer": tokenizer(["a", "b"]), "assistant_tokenizer": tokenizer(["a", "b", "c"])}
    counts = [0, 0]
    for text in range(TEXTS):
        counts[adapter.written(torch, target, assistant, 2, 1, **given)[0]] += 1
        made = AssistantVocabTranslatorCache.get_translator(*given.values(), 2)
        order = tuple(made.assistant_overlap_token_ids.tolist())
        if text == 0 and order in seen:
            break
    else:
        seen.add(order)
        used = [q[x] for x in order]
        print(f"order of the kept tokens {order}: drafts are tested against", [str(x) for x in used])
        print("  by hand ", [str(x) for x in rule(used)], [round(float(x), 4) for x in rule(used)])
        print("  observed", [round(x / TEXTS, 4) for x in counts], f"in {TEXTS} texts")
