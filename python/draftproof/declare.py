"""adapter: declares a plain Python function as a program under test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from draftproof import intercept
from draftproof.arrays import LARGEST_TOKEN, SETTINGS, TEXT_SETTINGS, kind_of
from draftproof.intercept.torch_operators import may_compile, needs_every_operator
from draftproof.models import EVERY_PREFIX, MOST_NODES, of_models
from draftproof.program import on_a_line, short
from draftproof.selection import CUTS, Policy
from draftproof.subject import Declaration, Subject, parameters_of

_LEVELS = ("position", "chain", "tree")
_DTYPES = ("float32", "float64", "float16", "bfloat16")


def adapter(
    fn: Callable[..., Any] | None,
    drafts: str = "iid",
    *,
    level: str = "chain",
    batched: bool = False,
    logits: bool = False,
    arrays: str | None = None,
    dtype: str = "float32",
    device: str = "cpu",
    name: str | None = None,
    version: str = "",
    scripted: bool = True,
    draft: Callable[..., Any] | None = None,
    step: Callable[..., Any] | None = None,
    generate: Callable[..., Any] | None = None,
    end_tokens: Sequence[int] = (),
    memory: int = 1,
    requests: bool = False,
    greedy: str = "no",
    grammar: bool = False,
    settings: Sequence[str] = (),
    select: Policy | None = None,
    select_cut: str = "before_verification",
    select_trees: bool = False,
    select_matching_alone: bool = False,
    fewest_drafts: int = 1,
    most_drafts: int = 0,
    most_vocabulary: int = 0,
    tolerance: float = 0.0,
    races: bool | None = None,
    batch_invariant: bool = False,
) -> Subject:
    """Declares `fn` as a program under test. `check`, `distribution`, `replay`, `gates`, `acceptance` take the same
    arguments.

    level       fn takes                                                       and returns
    chain       p [L + 1, V], q [L, V], drafts [L]                             accepted drafts, then one more token
    position    p [V], q [V], drafts [K]; q [K, V] if proposals differ         one token
    tree        p [n + 1, V], q [n, V], drafts [n], parents [n]                accepted drafts, then one more token

    p is the target's distribution after the context and after each draft, q the proposal of each draft.
    level       `chain`, `position` or `tree`, as in the table
    fn          the function; None with draft, generate or select alone
    batched     whether all arrays have a leading dimension B. fn then returns tokens [B, n + 1] with -1 after their
                end, or (tokens, counts). A parameter `lengths` gets the number of drafts of each row; without it these
                numbers are equal
    drafts      the draft sampling that fn is written for, by a name that `draftproof list` shows
    logits      whether p and q are natural logarithms of probabilities
    arrays      `torch`, `numpy` or `list`; `torch` if fn names torch, else `numpy`
    dtype       float32, float64, float16 or bfloat16 (the last with torch)
    device      device of the tensors in torch: `cpu`, `cuda` or another name that torch has; `cpu` for other arrays
    name        name of the function in reports; None: its `__name__`
    version     version of the engine, which reports show
    scripted    False if random numbers of fn cannot be replaced: fn is then tested in the sampled tier alone
    draft       the drafter that fn is used with: draft(q [V], K) -> at most K tokens; with `batched`, q [B, V] ->
                tokens [B, K]
    step        a step that drafts inside, with fn None: step(target, proposal, L) -> accepted drafts, then one more
                token. Both models are `draftproof.models.StateModel` in state 0, and L is the number of drafts. The
                draws of its drafter are scripted, too: proof and edge tier, no sampled tier
    generate    a whole engine: generate(target [V, V], proposal [V, V], length, drafts) -> text of `length` tokens;
                row t is the distribution after token t, and the text starts after token 0. With `memory=n` the
                tables are [V, .., V], n + 1 times: target[a, b] is the row after the tokens a b, and the text starts
                after n tokens 0, so that an engine that does not roll back its state emits other texts.
                If fn is None, there is no verifier, and draft and generate are tested in the sampled tier alone
    memory      number of last tokens that the tables of `generate` depend on
    requests    `generate` serves several requests, with models that depend on the whole prefix:
                generate(target, proposal, prompts, lengths, drafts) -> a text for each prompt, without the prompt.
                target and proposal are `draftproof.models.StateModel`, prompts are lists of tokens, and lengths the
                wanted numbers of tokens of their texts, which must be independent: not all requests may draw with the
                same seed. With `grammar=True` a sixth argument is a StateModel whose rows are of bool, True for tokens
                that are allowed; the first token of a text is chosen in its state 0.
                With `settings` the last argument is a list of dicts, the settings of each request by name. With
                both, the mask comes first: the settings apply to the row whose forbidden tokens are removed
    end_tokens  tokens below 32 that end a text of `generate` or a step of fn: no token follows them. Steps are
                compared on vocabularies of at most 4 tokens, so end tokens from 4 on do not occur there
    greedy      `first`, `last` or `any`: fn emits the likeliest token of each row instead of a draw: the first, the
                last or any one of equally likely tokens. Tokens of fn are compared in the proof tier, texts of
                `generate` in the sampled tier. With a temperature among `settings` only requests of temperature 0 are
                greedy, and others draw
    grammar     fn takes one more argument, legal, of bool and the shape of p: the tokens that a grammar allows after
                the context and after each draft. p is not masked; the target is p with the forbidden tokens set to 0,
                divided by its sum. Such a function is proved on small models, and not sampled
    settings    names of settings that fn applies to p itself, of temperature, top_k, top_p and min_p: fn takes them
                by name, numbers of the request (top_k an int), or with `batched` arrays [B], in torch of `dtype` and
                int64. p is the distribution before them; the target is p at that temperature, truncated by top-k,
                top-p or min-p (at most one in a request, because engines differ in their order). The values 1, 0, 1
                and 0 change nothing. The drafts were drawn from q. Such a function is proved on small models, and
                not sampled. With `requests` also repetition_penalty, presence_penalty, frequency_penalty, logit_bias
                ({token: bias}), min_tokens and stop (tokens; the text ends after their first occurrence); logits are
                log p, and a repetition penalty counts the prompt, too. A request has at most one of top_k, top_p,
                min_p, penalties and bias. Texts are tested in the sampled tier
    select      a selection policy: select(view) -> for each request of the `draftproof.selection.Selection` the
                number of first drafts that are verified, or for each draft whether it is verified. It is proved on
                small batches, with token and block verification and sample-and-match (docs/selection.md); it must
                depend on its view alone
    select_cut  `before_verification`: the verifier gets only the kept drafts; `after_with_token`, `after`: it gets
                all, and its output ends with its token after the last kept draft, or with that draft
    select_trees  whether the policy also chooses from trees
    select_matching_alone  whether the policy is for sample-and-match only
    fewest_drafts  the smallest number of drafts that fn is defined for. With 0 the edge tier has rows without drafts
              among others, for chains that are not batched or take `lengths`, and `distribution` takes such steps
    most_drafts  the largest number of drafts that fn is defined for, at least fewest_drafts; 0: no limit
    most_vocabulary  the largest V that fn is defined for; 0: no limit
    tolerance   largest total variation from the target that passes, 0 to 1, for an approximate rule
    batch_invariant  whether fn promises that the result of a row has the same bits in every batch
    races       whether an array of V uniforms u is drawn as a race of exponentials -log u. None: if fn draws such
                arrays, the first of -log u, -log(1 - u) and separate numbers with which a small distribution can be
                enumerated

    Parameters `rng` and `generator` of fn, draft and generate get a numpy Generator and a torch.Generator.
    Raises: ValueError if fn holds a random generator that cannot be replaced, no function is given, or an argument is
    invalid.
    Cost: no call of fn.
    Source: the protocol of programs under test, docs/adapters-protocol.md.
    """
    flags = (("batched", batched), ("logits", logits), ("scripted", scripted), ("requests", requests), ("races", races),
             ("grammar", grammar), ("select_trees", select_trees), ("select_matching_alone", select_matching_alone),
             ("batch_invariant", batch_invariant))  # fmt: skip
    for place, flag in flags:
        if not isinstance(flag, bool) and not (place == "races" and flag is None):
            raise ValueError(f"{place}: got {flag!r:.60}, expected True or False")
    if step is not None:
        usual = (level, drafts, fewest_drafts, most_drafts) == ("chain", "iid", 1, 0)
        others = (fn, draft, generate, select)
        if batched or grammar or settings:
            raise ValueError("step: got batched, grammar or settings, which a step does not take")
        if any(one is not None for one in others) or not usual:
            raise ValueError("step: got another function or a shape of drafts, too; expected the step alone")
        if not callable(step):
            raise ValueError(f"step: got {step!r:.60}, expected a function")
        fn, level, drafts = of_models(step, name_of(step)), "tree", EVERY_PREFIX
        arrays, most_drafts = arrays or kind_of(step), MOST_NODES
        if arrays == "list":
            raise ValueError("step: got arrays='list', expected 'numpy' or 'torch'")
    if requests and (generate is None or memory != 1):
        raise ValueError(
            "requests: got no generate, or memory; expected generate without memory, whose models have a state"
        )
    if grammar and generate is not None and not requests:
        raise ValueError("grammar: got generate without requests=True, expected requests=True")
    if greedy not in ("no", "first", "last", "any"):
        raise ValueError(f"greedy: got {greedy!r}, expected no, first, last or any")
    if dtype not in _DTYPES:
        raise ValueError(f"dtype: got {dtype!r}, expected one of {', '.join(_DTYPES)}")
    if not isinstance(settings, Iterable) or not isinstance(end_tokens, Iterable):
        raise ValueError(f"settings, end_tokens: got {settings!r:.60} and {end_tokens!r:.60}, expected sequences")
    settings = (settings,) if isinstance(settings, str) else tuple(settings)
    end_tokens = tuple(end_tokens)
    if wrong := [token for token in end_tokens if not isinstance(token, Integral) or not 0 <= token < 32]:
        raise ValueError(f"end_tokens: got {wrong[0]!r:.60}, expected tokens, which are integers of 0 to 31")
    if not isinstance(memory, Integral) or not 1 <= memory <= 3:
        raise ValueError(f"memory: got {memory!r:.60}, expected 1, 2 or 3")
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 <= tolerance <= 1:  # False for NaN
        raise ValueError(f"tolerance: got {tolerance!r:.60}, expected a number of 0 to 1")
    counts = (("fewest_drafts", fewest_drafts), ("most_drafts", most_drafts), ("most_vocabulary", most_vocabulary))
    for place, count in counts:
        if not isinstance(count, Integral) or not 0 <= count <= LARGEST_TOKEN:
            raise ValueError(f"{place}: got {count!r:.60}, expected an integer of 0 to {LARGEST_TOKEN}")
    if 0 < most_drafts < fewest_drafts:
        raise ValueError(f"most_drafts: got {most_drafts}, expected at least fewest_drafts, {fewest_drafts}, or 0")
    for place, text in (("name", name or ""), ("version", version), ("drafts", drafts)):
        if not isinstance(text, str) or (place == "drafts" and not text.isprintable()):
            raise ValueError(f"{place}: got {text!r:.60}, expected a text")
    known = tuple(TEXT_SETTINGS) if requests else SETTINGS
    if unknown := [name for name in settings if name not in known]:
        raise ValueError(f"settings: got {', '.join(map(repr, unknown))}, expected some of {', '.join(known)}")
    if settings and grammar and fn is not None:
        raise ValueError("settings: got settings with grammar=True for fn, expected one of the two, or generate alone")
    if settings and fn is None and not requests:
        raise ValueError("settings: got no fn, expected a verifier that applies them, or generate with requests=True")
    if settings and fn is not None and requests:
        raise ValueError("settings: got fn and requests=True, expected two calls of check")
    if "temperature" in settings and dtype not in ("float32", "float64"):
        raise ValueError(f"settings: got a temperature for rows of {dtype}, expected float32 or float64")
    if select_cut not in CUTS:
        raise ValueError(f"select_cut: got {select_cut!r}, expected one of {', '.join(CUTS)}")
    given = {"verify": fn, "draft": draft, "generate": generate, "select": select}
    functions = {told: one for told, one in given.items() if one is not None}
    if not functions:
        raise ValueError("fn: got None, expected a function, or draft, generate or select")
    for told, one in functions.items():
        if not callable(one):
            raise ValueError(f"{'fn' if told == 'verify' else told}: got {short(one)}, expected a function")
    scripted = scripted and fn is not None
    fn = next(iter(functions.values()))
    if level not in _LEVELS:
        raise ValueError(f"level: got {level!r}, expected one of {', '.join(_LEVELS)}")
    if hidden := intercept.unreachable(fn) if scripted else []:
        raise ValueError(
            f"{name_of(fn)}: got {', '.join(hidden)}, expected random numbers that can be replaced: take a parameter "
            "`rng`, or declare scripted=False"
        )
    names = parameters_of(fn)
    arrays = arrays or kind_of(fn)
    if arrays != "torch" and device != "cpu":
        raise ValueError(f"device: got {device!r:.60} with arrays={arrays!r}, expected 'cpu', or arrays='torch'")
    declaration = Declaration(
        name=on_a_line(name) if name else name_of(fn),
        engine_version=on_a_line(version),
        level=level,
        draft_sampling=drafts,
        randomness=(("scripted",) if scripted else ()) + (("opaque",) if batched else ("seeded",)),
        dtype=dtype,
        rows="logits" if logits else "probabilities",
        functions=tuple(functions),
        fewest_drafts=int(fewest_drafts),
        most_drafts=int(most_drafts),
        most_vocabulary=int(most_vocabulary),
        ragged=not batched or "lengths" in names,
        tolerance=tolerance,
        batch_invariant=batch_invariant or not batched,  # if not batched, each row is a separate call
        end_tokens=tuple(int(token) for token in end_tokens),
        coin_bits=53 if arrays == "list" else 24,  # uniforms are doubles in lists, else float32
        memory=memory,
        requests=requests,
        greedy=greedy,
        grammar=grammar,
        settings=settings,
        selection={"cut": select_cut, "trees": select_trees, "matching_alone": select_matching_alone}
        if select is not None
        else None,
    )
    compiled = any(map(may_compile, functions.values()))
    subject = Subject(
        fn,
        declaration,
        arrays=arrays,
        batched=batched,
        compiled=compiled,
        every_operator=compiled or any(map(needs_every_operator, functions.values())),
        draft=draft,
        generate=generate,
        select=select,
        device=device,
    )
    subject.races = bool(races)
    subject.finds_races = races is None and scripted
    return subject


def name_of(fn: Callable[..., Any]) -> str:
    while hasattr(fn, "func"):  # functools.partial
        fn = fn.func
    name = str(getattr(fn, "__name__", type(fn).__name__)).replace("<lambda>", "function")
    return on_a_line(name)


def subject_of(
    caller: str,
    fn: Callable[..., Any] | Subject | None,
    drafts: str,
    arguments: Mapping[str, Any],
    steps: bool = False,
) -> Subject:
    """Returns `fn` if it is declared already, else `adapter(fn, drafts, **arguments)`.

    steps   whether the caller takes a step that drafts inside
    Raises: TypeError with the name of the caller for an argument that `adapter` does not have; ValueError for a step
    that the caller does not take.
    """
    subject = fn if isinstance(fn, Subject) else _declared(caller, fn, drafts, arguments)
    if subject.declaration.draft_sampling == EVERY_PREFIX and not steps:
        raise ValueError(f"{caller}: got a step that drafts inside, expected a function of drafts")
    return subject


def _declared(caller: str, fn: Callable[..., Any] | None, drafts: str, arguments: Mapping[str, Any]) -> Subject:
    known = list(inspect.signature(adapter).parameters)[2:]
    if unknown := [name for name in arguments if name not in known]:
        raise TypeError(f"{caller}: got the argument {unknown[0]!r}, expected one of {', '.join(known)}")
    return adapter(fn, drafts, **arguments)
