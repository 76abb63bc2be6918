#include <draftproof/properties/subjects/any_verifier.hpp>

#include <utility>

namespace draftproof {
namespace {

class ScriptedTrials final : public Decider<Rows<double>, Philox> {
 public:
  explicit ScriptedTrials(DeciderPtr<Rows<double>, Scripted> decider) : decider_{std::move(decider)} {}
  void decide(const TrialBatch& batch, Verdict* verdicts) const override {
    for (int t = 0; t < batch.count; ++t) {
      const std::uint64_t trial =
          batch.trials != nullptr ? batch.trials[t] : batch.first + static_cast<std::uint64_t>(t);
      WordsOf words(Philox(batch.seed, trial, Philox::Role::verify));
      Scripted random{WordsFrom(words)};
      verdicts[t] =
          decider_->decide({batch.drafts + t * batch.stride, static_cast<std::size_t>(batch.lengths[t])}, random);
    }
  }

 private:
  DeciderPtr<Rows<double>, Scripted> decider_;
};

}  // namespace

DeciderPtr<Rows<double>, Philox> AnyVerifier::simulate_on(const Rows<double>& distributions, int drafts) const {
  return std::make_unique<ScriptedTrials>(scripted_on(distributions, drafts));
}

}  // namespace draftproof
