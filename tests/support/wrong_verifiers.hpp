// Verifiers that are each wrong in one way, for tests of which bugs a property detects.
#pragma once

#include <atomic>
#include <memory>
#include <stdexcept>

#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/sim/sampling/without_replacement.hpp>
#include <draftproof/sim/verifier.hpp>
#include <draftproof/verifiers/k_seq.hpp>
#include <draftproof/verifiers/sample_and_match.hpp>
#include <draftproof/verifiers/single_draft.hpp>

namespace draftproof::wrong_verifiers {

constexpr Info named(std::string_view name, Claims claims = {}) {
  return {.name = name,
          .summary = "wrong on purpose",
          .source = "this test",
          .drafts = DraftSamplings{"iid"},
          .claims = claims};
}

/// Accepts the first draft without a test.
struct AcceptAlways {
  static constexpr Info info = named("accept_always");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R&) const {
    return accepted(at.draft(0), 0);
  }
};

/// Promises a total variation of at most 1/1000 from p, but accepts every draft.
struct WithinNothing : AcceptAlways {
  static constexpr Info info = [] {
    Info far = named("within_nothing");
    far.promise = Promise::lossless_up_to;
    far.tau = 1e-3;
    return far;
  }();
};

/// Single-draft sampling that adds 1 to the token of its last draw, if this is a token and not a placeholder, so that
/// an enumeration that does not perform the draw does not see the change.
struct ChangesLastToken {
  static constexpr Info info = named("changes_last_token");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    Verdict verdict = verifiers::SingleDraft{}.verify(at, random);
    if (verdict.accepted < 0 && verdict.token >= 0) verdict.token = (verdict.token + 1) % at.vocabulary();
    return verdict;
  }
};

/// As ChangesLastToken, but for the placeholder too.
struct ChangesPlaceholder {
  static constexpr Info info = named("changes_placeholder");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    Verdict verdict = random.emit(at.residual(at.zero()));
    verdict.token += 2;
    return verdict;
  }
};

/// Emits a token, or accepts a draft, that does not exist.
struct EmitsOutside {
  static constexpr Info info = named("emits_outside");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R&) const {
    return {at.vocabulary() + 1'000'000, none_accepted};
  }
};
struct EmitsNothing {
  static constexpr Info info = named("emits_nothing");
  template <Position P, RandomSource R>
  Verdict verify(const P&, R&) const {
    return {no_token, none_accepted};
  }
};
struct AcceptsOutside {
  static constexpr Info info = named("accepts_outside");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R&) const {
    return accepted(at.draft(0), 1'000'000);
  }
};
/// Draws without end: the token by rejection sampling from p, which never ends where it accepts nothing.
struct DrawsWithoutEnd {
  static constexpr Info info = named("draws_without_end");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    while (true)
      if (const Token x = random.pick(at.residual(at.zero())); random.flip(at.target(x), at.one() + at.one()))
        return {x, none_accepted};
  }
};
/// Throws an exception of its own.
struct Throws {
  static constexpr Info info = named("throws");
  template <Position P, RandomSource R>
  Verdict verify(const P&, R&) const {
    throw std::runtime_error("trouble of its own");
  }
};
/// Throws an object that is not a std::exception.
struct ThrowsANumber {
  static constexpr Info info = named("throws_a_number");
  template <Position P, RandomSource R>
  Verdict verify(const P&, R&) const {
    throw 3;
  }
};
/// Reads a second draft, also at positions with a single draft.
struct ReadsTwoDrafts {
  static constexpr Info info = named("reads_two_drafts");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    const Token last = at.draft(1);
    return random.flip(at.target(last), at.proposal(last)) ? accepted(last, 1) : random.emit(at.residual(at.one()));
  }
};
/// Reads the probability of the token after the largest.
struct ReadsBeyondVocabulary {
  static constexpr Info info = named("reads_beyond_vocabulary");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    return random.flip(at.target(at.vocabulary()), at.one()) ? accepted(at.draft(0), 0)
                                                             : random.emit(at.residual(at.zero()));
  }
};

/// Exact, but it reports draft 0 as accepted although the emitted token is drawn from p, independent of the drafts.
struct FlagAlways {
  static constexpr Info info = named("flag_always");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    Verdict verdict = random.emit(at.residual(at.zero()));
    verdict.accepted = 0;
    return verdict;
  }
};

/// Exact, but it never reports a draft as accepted, although it claims that an emitted token among the drafts is an
/// accepted draft.
struct FlagNever {
  static constexpr Info info = named("flag_never", {.emitted_drafts_are_accepted = true});
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    return random.emit(at.residual(at.zero()));
  }
};

/// Draws from p by a race, with another stream of noise in every call.
struct KeyAndCall {
  static constexpr Info info{.name = "key_and_call",
                             .summary = "wrong on purpose",
                             .source = "none",
                             .drafts = DraftSamplings{"gumbel_iid"},
                             .most_drafts = 1,
                             .unsupported = {.explore = "its randomness is noise"},
                             .shared_noise = true};
  template <Position P, NoiseSource R>
  Verdict verify(const P& at, R& random) const {
    static std::atomic<int> calls{0};
    return {race<1>(
                at.distributions(), 1 + calls++ % 1000, 1, 1, [&at](Token x) { return at.target(x); }, random)[0]
                .token,
            none_accepted};
  }
};

/// Two types that each claim a wrong property of sample and match. Sample and match neither accepts every draft if p =
/// q, nor is it single-draft sampling at K = 1.
struct ClaimsEqualDistributions : verifiers::SampleAndMatch {
  static constexpr Info info = named("claims_equal_distributions", {.accepts_equal_distributions = true});
};
struct ClaimsOneDraft : verifiers::SampleAndMatch {
  static constexpr Info info = named("claims_one_draft", {.one_draft_is_single_draft = true});
};

/// Always accepts a single draft, but with several drafts it draws from p, so an emitted draft is a coincidence.
struct LosesWithMore {
  static constexpr Info info = named("loses_with_more", {.more_drafts_never_hurt = true});
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    if (at.drafts() == 1) return accepted(at.draft(0), 0);
    return random.emit(at.residual(at.zero()));
  }
};

/// Single-draft sampling, whose token depends on its draft, but which claims to be drafter-invariant.
struct ClaimsInvariance : verifiers::SingleDraft {
  static constexpr Info info = named("claims_invariance", {.drafter_invariant = true});
};

/// Claims drafter invariance, but emits from the proposal, independently of the drafts.
struct LooksAtProposal {
  static constexpr Info info = named("looks_at_proposal", {.drafter_invariant = true});
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    return random.emit(at.row(0));
  }
};

/// A coupling whose verifier reads another noise stream than its drafter. It is exact and drafter-invariant, but it may
/// reject a draft although p = q. A race cannot be explored.
struct RacesAlone {
  static constexpr Info info = [] {
    Info alone = named("races_alone", {.accepts_equal_distributions = true, .drafter_invariant = true});
    alone.drafts = DraftSamplings{"gumbel_iid"};
    alone.unsupported.explore = "it races";
    alone.shared_noise = true;
    return alone;
  }();
  template <Position P, NoiseSource R>
  Verdict verify(const P& at, R& random) const {
    const auto winner = race<1>(
        at.distributions(), 100, 1, 1, [&at](Token x) { return at.target(x); }, random);
    return matched(at, {winner[0].token, none_accepted});
  }
};

/// Emits uniformly over the vocabulary, so every added token without mass changes the distribution.
struct UniformOverVocabulary {
  static constexpr Info info = named("uniform_over_vocabulary");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    return random.emit(UniformOnComplement(at.vocabulary(), nullptr, 0));
  }
};

/// Accepts a draft only if it is token 0, so the distribution depends on token ids.
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

/// Draws from p - q, which has no mass if p = q.
struct ReachesNothing {
  static constexpr Info info = named("reaches_nothing");
  template <Position P, RandomSource R>
  Verdict verify(const P& at, R& random) const {
    return random.emit(at.residual(at.one()));
  }
};

/// Draws from the target; every third decision reads fewer random numbers, so results depend on earlier decisions.
struct CountsItsDecisions {
  static constexpr Info info = named("counts_its_decisions");
  template <Distributions L>
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

/// Reads the next random number from a copy of its source before it decides.
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

/// Exact, but reports the last draft as accepted when it accepted the first.
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
