// The gate of an external program. Its tiers depend on the random numbers that the program lets the host choose.
//
//   tier      needs               runs
//   proof     scripted numbers    distribution_checks.hpp; selection_checks.hpp of a policy
//   edge      scripted numbers    batch_checks.hpp
//   sampled   seeds, or nothing   the statistical gate on trials of verify; draft_checks.hpp; text_checks.hpp
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <draftproof/adapters/open_adapter.hpp>
#include <draftproof/adapters/program.hpp>
#include <draftproof/adapters/wire/served.hpp>
#include <draftproof/properties/gate/gate.hpp>

namespace draftproof::adapters {

class ExternalGate final : public ExternalSubject {
 public:
  /// `adapter` is the text of --adapter, for replay lines (commands that repeat a failure), and `fresh` starts the
  /// program again to try these lines. `program` and `served` are two interfaces of the same external program.
  ExternalGate(const std::string& adapter, std::shared_ptr<Program> program, std::shared_ptr<Served> served,
               FreshProgram fresh = {})
      : adapter_{adapter}, program_{std::move(program)}, served_{std::move(served)}, fresh_{std::move(fresh)} {}

  std::string name() const override { return served_->declaration().name; }
  std::string_view level() const override { return to_text(served_->declaration().level); }
  std::string refusal(Tier tier) const override;
  void examine(GateResult& result, const GateOptions& options) const override;

 private:
  void examine_tier(GateResult& result, const GateOptions& options) const;
  void examine_distributions(GateResult& result, const GateOptions& options) const;
  void examine_selection(GateResult& result, const GateOptions& options) const;
  void examine_batches(GateResult& result, const GateOptions& options) const;
  /// Marks failures of the edge tier that do not occur in a newly started program, because they depend on earlier
  /// calls.
  void try_replays(std::vector<Finding>& findings, const GateOptions& options) const;
  void examine_trials(GateResult& result, const GateOptions& options) const;
  /// Returns the command line that runs one tier again.
  std::string replay_check(Tier tier, const GateOptions& options, const std::string& source = {}) const;
  /// Returns the drafter of trials at one position. Throws: AdapterError if none has the declared draft sampling.
  const AnyDrafter& drafter_of_positions() const;
  /// Runs trials at one position of the source of the options; nothing if the program does not run there.
  std::optional<Finding> verified_trials(GateResult& result, const AnyDrafter& drafter,
                                         const GateOptions& options) const;

  std::string adapter_;
  std::shared_ptr<Program> program_;
  std::shared_ptr<Served> served_;
  FreshProgram fresh_;
};

}  // namespace draftproof::adapters
