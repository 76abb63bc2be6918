// The proof tier of an external program: its exact distribution on small models, found by calls and compared with the
// target. Each check has one finding; the first violation is shrunk to an instance that a reader can check by hand.
//
//   check               fails where
//   exact_distribution  the completed distribution departs from the target by more than rounding_limit()
//   zero_support        a token with p = 0, or none, is emitted: at the edge of a coin's grid or anywhere else
//   answers             a row that the declaration allows fails, crashes or draws from weights that are all zero
//   function            equal calls have different results
//   optimum             more drafts are accepted than any lossless verifier can accept
//   inputs_unchanged    the program changes an array in place, which its caller still uses
//   protocol            the program is lost on an instance; later instances are not judged
//
// If the program stops answering, the checks that have not failed until then are undecided.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/explorer/explore.hpp>
#include <draftproof/adapters/gate/judgement.hpp>
#include <draftproof/adapters/gate/small_model.hpp>
#include <draftproof/adapters/program.hpp>
#include <draftproof/properties/proof/finding.hpp>

namespace draftproof::adapters {

/// Limits of the predictions on each input: fewer give too little evidence, more take too many calls.
inline constexpr int fewest_predictions = 16, most_predictions = 1 << 20;
inline constexpr const char* predictions_help =
    "outputs of an external verifier, per drafted input, that must be predicted correctly before its computed "
    "distribution is trusted [256; in check set by --profile]";

struct DistributionCheckOptions {
  int instances = 60;                ///< number of generated instances
  int most_drafts = usual_drafts;    ///< largest number of drafts of a generated tuple or path
  std::vector<std::string> first{};  ///< instances, as text, examined before generated ones, in this order
  std::uint64_t seed = 1;
  std::string adapter{};  ///< text of --adapter, for replay lines
  std::string again{};    ///< the command line that repeats all calls, for findings that no instance replays
  FreshProgram fresh{};
  ExploreOptions explore{};
  const std::atomic<bool>* stop = nullptr;
  std::function<void(int instances)> progress{};
};

/// The findings from the distributions of all instances.
struct DistributionChecks {
  std::vector<Finding> findings{};
  int instances = 0;         ///< number of instances whose distributions were found
  std::uint64_t calls = 0;   ///< number of runs of the program
  double largest = 0;        ///< largest distance among the distributions within the limit
  double limit = 0;          ///< limit on the instance with the largest distance
  std::string farthest{};    ///< instance with the largest distance
  double largest_limit = 0;  ///< largest limit on any instance
  std::vector<std::string>
      /// only from check_distributions_on(): the distribution on each drafted input, and the stretches of draws that
      /// decide, a line each
      distributions{};
  std::uint64_t predictions = 0;  ///< number of results on random and edge numbers that were predicted correctly
};

/// Returns `options` with the number formats that the program declares.
ExploreOptions exploration_of(const Declaration& declaration, ExploreOptions options = {});

/// Examines the program on the instances `options.first`, then on generated ones, smallest first.
/// Throws: std::invalid_argument for text that does not parse as an instance; ProgramFails if every row of the first
/// twenty instances fails.
DistributionChecks check_distributions(Program& program, const Declaration& declaration,
                                       const DistributionCheckOptions& options);

/// Runs the checks of check_distributions() on one instance, given as text. Throws: std::invalid_argument for text that
/// does not parse; AdapterError.
DistributionChecks check_distributions_on(Program& program, const Declaration& declaration,
                                          const std::string& instance, const DistributionCheckOptions& options);

}  // namespace draftproof::adapters
