// Verifiers that are wrong in one way each, for tests that show what a property sees.
#pragma once

#include <memory>

#include <draftproof/sim/sampling/complement.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>
#include <draftproof/verifiers/single_draft.hpp>

namespace draftproof::wrong_verifiers {

constexpr Info named(std::string_view name, Claims claims = {}) {
  return {.name = name,
          .summary = "wrong on purpose",
          .source = "this test",
          .drafts = DraftLaws{"iid"},
          .claims = claims};
}

/// Takes the first draft whatever the target says.
struct AcceptAlways {
  static constexpr Info info = named("accept_always");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R&) const {
    return accepted(at.draft(0), 0);
  }
};

/// Promises to stay within a thousandth of the target and takes every draft.
struct WithinNothing : AcceptAlways {
  static constexpr Info info = [] {
    Info far = named("within_nothing");
    far.promise = Promise::lossless_up_to;
    far.tau = 1e-3;
    return far;
  }();
};

/// Exact, but says that a draft was accepted when none was.
struct FlagAlways {
  static constexpr Info info = named("flag_always");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    Verdict verdict = random.emit(at.residual(at.zero()));
    verdict.accepted = 0;
    return verdict;
  }
};

/// Exact, with flags that miss members, and a claim that they do not.
struct FlagNever {
  static constexpr Info info = named("flag_never", {.flag_is_membership = true});
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    return random.emit(at.residual(at.zero()));
  }
};

/// Sample and match, which neither accepts equal laws always nor is single-draft sampling at K = 1.
struct ClaimsEqualLaws : verifiers::SampleAndMatch {
  static constexpr Info info = named("claims_equal_laws", {.accepts_equal_laws = true});
};
struct ClaimsOneDraft : verifiers::SampleAndMatch {
  static constexpr Info info = named("claims_one_draft", {.one_draft_is_single_draft = true});
};

/// Takes a single draft always, several drafts only by chance.
struct LosesWithMore {
  static constexpr Info info = named("loses_with_more", {.more_drafts_never_hurt = true});
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    if (at.drafts() == 1) return accepted(at.draft(0), 0);
    return random.emit(at.residual(at.zero()));
  }
};

/// Single-draft sampling, whose token follows its draft, with a claim that it does not.
struct ClaimsInvariance : verifiers::SingleDraft {
  static constexpr Info info = named("claims_invariance", {.drafter_invariant = true});
};

/// Emits from the proposal, whatever was drafted.
struct LooksAtProposal {
  static constexpr Info info = named("looks_at_proposal", {.drafter_invariant = true});
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    return random.emit(at.row(0));
  }
};

/// GumbelIid with the noise of another stream than its drafter's: exact, invariant, and refuses drafts of equal laws. No
/// explorer can walk it.
struct RacesAlone {
  static constexpr Info info = [] {
    Info alone = named("races_alone", {.accepts_equal_laws = true, .drafter_invariant = true});
    alone.drafts = DraftLaws{"gumbel_iid"};
    alone.unsupported.explore = "it races";
    alone.shared_noise = true;
    return alone;
  }();
  template <Position P, NoiseSource R>
  Verdict verify(const P& at, R& random) const {
    const auto winner = race<1>(
        at.laws(), 100, 1, 1, [&at](Token x) { return at.target(x); }, random);
    return matched(at, {winner[0].token, none_accepted});
  }
};

/// Uniform over the vocabulary, so every empty token added to it changes the law.
struct UniformOverVocabulary {
  static constexpr Info info = named("uniform_over_vocabulary");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    return random.emit(UniformOnComplement(at.vocabulary(), nullptr, 0));
  }
};

/// Keeps token 0 and no other draft: ids decide.
struct LikesTokenZero {
  static constexpr Info info = named("likes_token_zero");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    if (at.draft(0) == 0) return accepted(0, 0);
    return random.emit(at.residual(at.zero()));
  }
};

struct KSeqTooSmall : verifiers::KSeq {
  static constexpr Info info = named("k_seq_too_small");
};

/// Draws from a residual without mass when the laws are equal.
struct ReachesNothing {
  static constexpr Info info = named("reaches_nothing");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    return random.emit(at.residual(at.one()));
  }
};

/// Draws from the target and, every third time, by a word less: decisions depend on how many came before.
struct CountsItsDecisions {
  static constexpr Info info = named("counts_its_decisions");
  template <Laws L>
  std::shared_ptr<int> prepare(const L&, int) const {
    return std::make_shared<int>(0);
  }
  template <Position P, RandomSource R>
  Verdict verify(const P& at, const std::shared_ptr<int>& decided, R& random) const {
    if constexpr (requires { random.next(Purpose::flip); })
      if (++*decided % 3 != 0) random.next(Purpose::flip);
    return random.emit(at.residual(at.zero()));
  }
};

/// Looks at the next word before it decides how many to read.
struct LooksAhead {
  static constexpr Info info = named("looks_ahead");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    if constexpr (requires { random.next(Purpose::flip); }) {
      R ahead = random;
      ahead.next(Purpose::flip);
    }
    return random.emit(at.residual(at.zero()));
  }
};

/// Exact, and says that the second draft is accepted whichever was emitted.
struct FlagsTheWrongDraft {
  static constexpr Info info = named("flags_the_wrong_draft");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    const Token x = at.draft(0);
    if (random.flip(at.target(x), at.proposal(x))) return accepted(x, at.drafts() - 1);
    return random.emit(at.residual(at.one()));
  }
};

}  // namespace draftproof::wrong_verifiers
