// Drafts, decides and counts the trials of the statistical gate.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <draftproof/properties/simulation/joint_distribution.hpp>
#include <draftproof/properties/simulation/sampled_null.hpp>

namespace draftproof {

/// A verifier and its drafter at one position. Trial n uses the random bits at address `origin` + n of `seed`. Threads
/// may share an object.
template <class L>
class SampledTrials {
 public:
  /// Throws: std::invalid_argument if the verifier cannot be simulated on `distributions`.
  SampledTrials(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& distributions, int drafts,
                std::uint64_t seed, std::uint64_t origin)
      : drafter_{drafter},
        distributions_{distributions},
        drafts_{drafts},
        seed_{seed},
        origin_{origin},
        decider_{verifier.simulate_on(distributions, drafts)} {
    if (!decider_) throw std::invalid_argument(std::string(verifier.info().unsupported.simulate));
  }

  /// Adds `count` trials to `counts`, from trial `first` of a batch that begins at trial `before`. Trials 2 n and
  /// 2 n + 1 of the batch are pair n; pairs with n < `pairs` are counted too.
  void count(const SampledNull& null, std::uint64_t before, std::uint64_t pairs, std::uint64_t first,
             std::uint64_t count, SampledCounts& counts) const {
    each_batch(before + first, count, [&](std::uint64_t done, const TrialBatch& batch, const Verdict* verdicts) {
      for (int t = 0; t < batch.count; ++t) {
        ++counts.trials;
        const Verdict verdict = verdicts[t];
        if (verdict.token >= static_cast<Token>(counts.cells.vocabulary()) || verdict.accepted >= batch.stride)
          throw std::out_of_range("a verdict has token " + std::to_string(verdict.token) + " and draft " +
                                  std::to_string(verdict.accepted) + ", which do not exist");
        if (verdict.token < 0) {
          ++counts.impossible;
          continue;
        }
        const Token* tuple = batch.drafts + t * batch.stride;
        counts.cells.add(path_of(verdict.accepted, counts.cells.paths()), static_cast<std::size_t>(verdict.token));
        counts.draft_emitted += among(verdict.token, tuple, batch.lengths[t]);
        if (null.sees_drafts())
          for (int k = 0; k < batch.lengths[t]; ++k)
            ++counts.drafts[static_cast<std::size_t>(k) * counts.cells.vocabulary() +
                            static_cast<std::size_t>(tuple[k])];
        if ((t & 1) && (first + done + static_cast<std::uint64_t>(t)) / 2 < pairs && verdicts[t - 1].token >= 0)
          ++counts.serial_dependence[null.pair(verdicts[t - 1].token, verdict.token)];
      }
    });
  }

  /// Returns the first of `trials` trials whose verdict is counted in this cell of a path distribution with `rows`
  /// rows; nullopt if there is none, or after an interrupt.
  std::optional<std::uint64_t> find(const WorstCell& cell, std::size_t rows, std::uint64_t trials,
                                    const std::atomic<bool>* stop) const {
    std::optional<std::uint64_t> found;
    const auto stopped = [stop] { return stop && stop->load(std::memory_order_relaxed); };
    for (std::uint64_t first = 0; first < trials && !found && !stopped(); first += 4096)
      each_batch(
          first, std::min<std::uint64_t>(4096, trials - first),
          [&](std::uint64_t done, const TrialBatch& batch, const Verdict* verdicts) {
            for (int t = 0; t < batch.count && !found; ++t)
              if (verdicts[t].token == static_cast<Token>(cell.token) &&
                  (cell.path < 0 || path_of(verdicts[t].accepted, rows) == static_cast<std::size_t>(cell.path)))
                found = first + done + static_cast<std::uint64_t>(t);
          });
    return found;
  }

 private:
  /// Runs trials in groups whose drafts and verdicts fit in the L1 cache; an even group size keeps pairs together.
  template <class Visit>
  void each_batch(std::uint64_t first, std::uint64_t count, Visit&& visit) const {
    constexpr int batch_trials = 128;
    Token drafts[batch_trials * max_drafts];
    int lengths[batch_trials];
    Verdict verdicts[batch_trials];
    for (std::uint64_t done = 0; done < count; done += batch_trials) {
      const int trials = static_cast<int>(std::min<std::uint64_t>(batch_trials, count - done));
      const TrialBatch batch{seed_, origin_ + first + done, trials, drafts_, drafts, lengths};
      drafter_.draw(distributions_, drafts_, batch);
      decider_->decide(batch, verdicts);
      visit(done, batch, verdicts);
    }
  }

  const AnyDrafter& drafter_;
  const L& distributions_;
  int drafts_;
  std::uint64_t seed_, origin_;
  DeciderPtr<L, Philox> decider_;
};

}  // namespace draftproof
