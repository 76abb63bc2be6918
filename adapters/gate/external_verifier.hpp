// An external program as a registered verifier of one position, or of paths. Trials of the gate, of surveys and of
// simulations are calls of the program. At one position a program of chains decides on one draft, and the first token
// that it emits is the token of the position.
//
// The token of a trial has distribution p for any lossless program, so the statistics of compiled verifiers apply.
// Seeds are a function of (seed, trial): a seeded program has the same trials for any number of threads and any size
// of batches.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <draftproof/adapters/wire/served.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof::adapters {

/// The Info of an external program. The object owns the text.
class ExternalInfo {
 public:
  /// Describes the program as a verifier of one position, or of paths. Lists show `name`, or the declared name if it is
  /// empty.
  ExternalInfo(const Declaration& declaration, std::string name, bool of_paths);
  const Info& info() const { return info_; }

 private:
  std::string name_, summary_, distribution_;
  Info info_;
};

/// Trials without an answer.
struct Unanswered {
  std::uint64_t trials = 0, first = 0;  ///< number of unanswered trials, and index of the first
  RowStatus status = RowStatus::ok;     ///< status of the first unanswered trial
  std::string message{};                ///< message of the first unanswered trial
};

class ExternalVerifier final : private ExternalInfo, public AnyVerifier {
 public:
  /// Requires a program of level position or chain that is seeded or opaque. Simulations take turns to call the
  /// program with one batch. `name` is the name in lists; empty: the declared name.
  explicit ExternalVerifier(std::shared_ptr<Served> program, std::string name = {});

  using AnyVerifier::info;
  using AnyVerifier::simulate_on;

  /// Returns the decider for simulation. There is no decider for exact enumeration, because the branches of a program
  /// that can only be called are unknown. The program's distribution is found by calls
  /// (adapters/gate/distribution_checks.hpp).
  DeciderPtr<RatioTable, Philox> simulate_on(const RatioTable& distributions, int drafts) const override;

  /// Returns the number of unanswered trials of all simulations so far. Requires that no simulation runs.
  const Unanswered& unanswered() const { return calls_->unanswered; }

  /// The program, shared by the simulations, which take turns to call it.
  struct Calls {
    std::mutex one_at_a_time{};
    Unanswered unanswered{};
  };

 private:
  std::shared_ptr<Served> program_;
  std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
};

/// An external program of chains or trees as a registered verifier of paths. Each step of a survey is one row of a
/// call. The row's seed is drawn from the trial's own random bits, so trials do not depend on threads.
class ExternalPathVerifier final : private ExternalInfo, public AnyPathVerifier {
 public:
  /// Requires a program of level chain or tree that is seeded or opaque. Lists show `name`.
  ExternalPathVerifier(std::shared_ptr<Served> program, std::string name);

  using AnyPathVerifier::info;

  On<RatioTable, Philox> simulate_on(const ConditionalModel<RatioTable>& conditionals,
                                     const TreeShape& shape) const override;

 private:
  std::shared_ptr<Served> program_;
  std::shared_ptr<std::mutex> one_at_a_time_ = std::make_shared<std::mutex>();
};

}  // namespace draftproof::adapters
