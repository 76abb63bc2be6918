// Wraps a verifier or drafter type as a type-erased subject, with an override for every form of rows and random
// source.
#pragma once

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>

#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/random/batched_philox.hpp>
#include <draftproof/sim/trials/deferred_emits.hpp>
#include <draftproof/sim/trials/run_trials.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {

template <class V, class L, class R>
class DeciderOf final : public Decider<L, R> {
 public:
  DeciderOf(const V& verifier, const L& distributions, int drafts)
      : verifier_{verifier}, distributions_{distributions}, plan_{prepare(verifier, distributions, drafts)} {}
  Verdict decide(std::span<const Token> drafts, R& random) const override {
    return verify(verifier_, DraftedPosition<L>(distributions_, drafts.data(), static_cast<int>(drafts.size())),
                  plan_, random);
  }

 private:
  V verifier_;
  const L& distributions_;
  PlanOf<V, L> plan_;
};

template <class V, class L>
class DeciderOf<V, L, Philox> final : public Decider<L, Philox> {
 public:
  DeciderOf(const V& verifier, const L& distributions, int drafts)
      : verifier_{verifier}, distributions_{distributions}, plan_{prepare(verifier, distributions, drafts)} {}
  void decide(const TrialBatch& batch, Verdict* verdicts) const override {
    if constexpr (sequential) return decide_sequentially(batch, verdicts);
    ResidualCache<L> cache(distributions_, shared_guide_);
    DeferredEmits deferred(verdicts);
    for (int start = 0; start < batch.count; start += PhiloxBatch::most) {
      PhiloxBatch words = batch.words(start, Philox::Role::verify);
      for (int i = 0; i < words.count(); ++i) {
        const int t = start + i;
        SourceOfTrial random = source(words, i, t, deferred);
        verdicts[t] =
            verify(verifier_, cache.trial(batch.drafts + t * batch.stride, batch.lengths[t]), plan_, random);
        if (deferred.full()) deferred.flush(batch.drafts, batch.lengths, batch.stride);
      }
    }
    deferred.flush(batch.drafts, batch.lengths, batch.stride);
  }

 private:
  static constexpr bool sequential =
      std::same_as<L, RatioTable> && V::info.sequential && V::info.claims.emitted_drafts_are_accepted;

  /// Decides all trials with guessed flips, then repeats the trials with a wrong guess without guessing
  /// (sim/trials/deferred_emits.hpp).
  void decide_sequentially(const TrialBatch& batch, Verdict* verdicts) const {
    ResidualCache<L> cache(distributions_, shared_guide_);
    DeferredEmits deferred(verdicts);
    constexpr int most = 128;
    int open[most];
    for (int start = 0; start < batch.count; start += most) {
      const int count = std::min(most, batch.count - start);
      int left = 0;
      if (batch.known_rejections == 0) {
        for (int i = 0; i < count; i += PhiloxBatch::most)
          left += decide_group<true>(batch, start + i, nullptr, count - i, verdicts, cache, deferred, open + left);
      } else {
        for (; left < count; ++left) open[left] = start + left;
      }
      for (int i = 0; i < left; i += PhiloxBatch::most)
        decide_group<false>(batch, 0, open + i, left - i, verdicts, cache, deferred, nullptr);
    }
    deferred.flush(batch.drafts, batch.lengths, batch.stride);
  }

  template <bool guess>
  int decide_group(const TrialBatch& batch, int start, const int* places, int left, Verdict* verdicts,
                   ResidualCache<L>& cache, DeferredEmits& deferred, int* open) const {
    PhiloxBatch words = places == nullptr
                            ? batch.words(start, Philox::Role::verify)
                            : batch.words(places, std::min(PhiloxBatch::most, left), Philox::Role::verify);
    if (batch.promised > 0)
      return decide_group<guess, true>(batch, start, places, words, verdicts, cache, deferred, open);
    return decide_group<guess, false>(batch, start, places, words, verdicts, cache, deferred, open);
  }

  /// Decides the trials whose random bits are `words`: the trials from `start` on if flips are guessed, else the trials
  /// with indices `places`. Writes the indices of trials with a wrong guess to `open` and returns their number.
  /// `in_part` says that promised drafts may be unavailable (sim/trials/deferred_emits.hpp). Not inlined, so that the
  /// state of a trial stays in registers.
  template <bool guess, bool in_part>
  [[gnu::noinline]] int decide_group(const TrialBatch& batch, int start, const int* places, PhiloxBatch& words,
                                     Verdict* verdicts, ResidualCache<L>& cache, DeferredEmits& deferred,
                                     int* open) const {
    const int count = words.count(), stride = batch.stride,
              known_rejections = guess ? 0 : std::max(batch.known_rejections, 1);
    int still = 0;
    for (int i = 0; i < count; ++i) {
      const int t = guess ? start + i : places[i];
      const Token* const tuple = batch.drafts + t * stride;
      const int before = deferred.count();
      std::conditional_t<in_part, AbortableSource<guess>, SpeculativeFlips<guess>> random(words, i, t, deferred,
                                                                                          known_rejections);
      if constexpr (in_part) {
        const LazyDrafts position(cache.trial(tuple, batch.promised), batch.lengths[t], random);
        verdicts[t] = verify(verifier_, position, plan_, random);
        if (random.aborted()) verdicts[t] = {drafts_exhausted, random.known_rejections()};
      } else {
        verdicts[t] = verify(verifier_, cache.trial(tuple, batch.lengths[t]), plan_, random);
      }
      if constexpr (guess) {
        if (deferred.count() != before && random.mispredicted()) deferred.keep(before);
        open[still] = t;
        still += random.mispredicted();
      }
      if (deferred.full()) [[unlikely]]
        deferred.flush(batch.drafts, batch.lengths, batch.stride);
    }
    return still;
  }

  /// The random source of a trial. It defers final draws if the scheme can be enumerated, because such a scheme never
  /// reads the token of its last draw.
  using SourceOfTrial =
      std::conditional_t<V::info.unsupported.explore.empty(), DeferredEmitSource, PhiloxBatch::Source>;
  static SourceOfTrial source(PhiloxBatch& words, int i, int trial, DeferredEmits& deferred) {
    if constexpr (V::info.unsupported.explore.empty())
      return {words, i, trial, deferred};
    else
      return {words, i};
  }

  V verifier_;
  const L& distributions_;
  PlanOf<V, L> plan_;
  SharedGuide<L> shared_guide_;
};

template <class V>
class VerifierOf final : public AnyVerifier {
 public:
  explicit VerifierOf(Kind kind, V verifier = {}) : AnyVerifier(V::info, kind), verifier_{std::move(verifier)} {}

  DeciderPtr<Rows<Rational>, Explorer<Rational>> prove_on(const Rows<Rational>& distributions,
                                                          int drafts) const override {
    return make<explored, Explorer<Rational>>(distributions, drafts);
  }
  DeciderPtr<Rows<double>, Explorer<double>> explore_on(const Rows<double>& distributions,
                                                        int drafts) const override {
    return make<audited, Explorer<double>>(distributions, drafts);
  }
  DeciderPtr<RatioTable, Explorer<double>> explore_on(const RatioTable& distributions, int drafts) const override {
    return make<audited_on_tables, Explorer<double>>(distributions, drafts);
  }
  DeciderPtr<FreshRows<double>, Explorer<double>> explore_on(const FreshRows<double>& distributions,
                                                             int drafts) const override {
    return make<audited_on_streams, Explorer<double>>(distributions, drafts);
  }
  using AnyVerifier::simulate_on;
  DeciderPtr<RatioTable, Philox> simulate_on(const RatioTable& distributions, int drafts) const override {
    return make<tabled, Philox>(distributions, drafts);
  }
  DeciderPtr<Rows<double>, Scripted> scripted_on(const Rows<double>& distributions, int drafts) const override {
    return make<true, Scripted>(distributions, drafts);
  }
  DeciderPtr<RatioTable, Scripted> scripted_on(const RatioTable& distributions, int drafts) const override {
    return make<tabled, Scripted>(distributions, drafts);
  }

 private:
  static constexpr bool explored = V::info.unsupported.explore.empty();
  static constexpr bool tabled = V::info.unsupported.simulate.empty();
  static constexpr bool audited = explored && V::info.precision_audited();
  static constexpr bool audited_on_tables = audited && tabled;
  static constexpr bool audited_on_streams = audited && V::info.unsupported.fresh.empty();

  template <bool possible, class R, class L>
  DeciderPtr<L, R> make([[maybe_unused]] const L& distributions, [[maybe_unused]] int drafts) const {
    if constexpr (possible)
      return std::make_unique<DeciderOf<V, L, R>>(verifier_, distributions, drafts);
    else
      return nullptr;
  }
  V verifier_;
};

template <class D>
class DrafterOf final : public AnyDrafter {
 public:
  DrafterOf() : AnyDrafter(D::info) {
    if constexpr (D::info.shared_noise()) static_assert(D::Marginal::info.name == D::info.marginal_sampling_of);
    if constexpr (D::info.misdeclares()) static_assert(D::Declared::info.name == D::info.declared_as);
  }

  int draw(const Rows<Rational>& distributions, int drafts, Explorer<Rational>& random, Token* out) const override {
    return ExploredDrafter<D>{}.draw(distributions, drafts, random, out);
  }
  int draw(const Rows<double>& distributions, int drafts, Explorer<double>& random, Token* out) const override {
    return ExploredDrafter<D>{}.draw(distributions, drafts, random, out);
  }
  int draw(const RatioTable& distributions, int drafts, Explorer<double>& random, Token* out) const override {
    return ExploredDrafter<D>{}.draw(distributions, drafts, random, out);
  }
  int draw(const FreshRows<double>& distributions, int drafts, Explorer<double>& random, Token* out) const override {
    return ExploredDrafter<D>{}.draw(distributions, drafts, random, out);
  }
  int draw(const Rows<double>& distributions, int drafts, Scripted& random, Token* out) const override {
    return D{}.draw(distributions, drafts, random, out);
  }
  int draw(const RatioTable& distributions, int drafts, Scripted& random, Token* out) const override {
    return D{}.draw(distributions, drafts, random, out);
  }
  void draw(const RatioTable& distributions, int drafts, const TrialBatch& batch) const override {
    fill(distributions, drafts, batch);
  }
  void draw(const Rows<double>& distributions, int drafts, const TrialBatch& batch) const override {
    fill(distributions, drafts, batch);
  }
  std::optional<Rational> declared_mass(const Rows<Rational>& distributions, int drafts,
                                        std::span<const Token> prefix) const override {
    using Declared = DeclaredDrafter<D>;
    if constexpr (requires { Declared::mass(distributions, drafts, prefix.data(), 0); })
      return Declared::mass(distributions, drafts, prefix.data(), static_cast<int>(prefix.size()));
    else
      return std::nullopt;
  }

 private:
  template <class L>
  static void fill(const L& distributions, int drafts, const TrialBatch& batch) {
    for (int start = 0; start < batch.count; start += PhiloxBatch::most) {
      PhiloxBatch words = batch.words(start, Philox::Role::draft);
      Token* const out = batch.drafts + start * batch.stride;
      int* const lengths = batch.lengths + start;
      if constexpr (requires { D{}.draw_together(distributions, drafts, words, out, batch.stride, lengths); }) {
        D{}.draw_together(distributions, drafts, words, out, batch.stride, lengths);
      } else {
        for (int t = 0; t < words.count(); ++t) {
          PhiloxBatch::Source random(words, t);
          lengths[t] = D{}.draw(distributions, drafts, random, out + t * batch.stride);
        }
      }
    }
  }
};

}  // namespace draftproof
