// The answers of the proof tier's checks (distribution_checks.hpp) to a program's distributions on one model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/explorer/explore.hpp>
#include <draftproof/adapters/gate/judgement.hpp>
#include <draftproof/adapters/gate/small_model.hpp>
#include <draftproof/adapters/program.hpp>
#include <draftproof/properties/proof/finding.hpp>

namespace draftproof::adapters {

/// The names of the checks, in the order of findings: the checks of distribution_checks.hpp, then the registered
/// properties of the emitted distribution (properties/prover/distribution_property.hpp).
std::vector<std::string_view> distribution_checks();

/// Indices of the built-in checks in distribution_checks().
namespace distribution_check {
enum Place : std::size_t {
  exact_distribution,
  zero_support,
  answers,
  function,
  optimum,
  inputs_unchanged,
  first_registered
};
}

/// The answer of each check on one instance.
struct Answers {
  std::vector<std::optional<Answer>> failed = std::vector<std::optional<Answer>>(distribution_checks().size());
  std::optional<std::string> undecided{};
  std::optional<std::string> unjudged{};  ///< why failing rows leave the distribution unjudged
  bool answered = false;                  ///< whether any run ended without a failure
  std::string failure{};                  ///< message of a row that failed
  bool unsettled = false;                 ///< whether predictions still fail, or a race has no known winner
  std::string note{};                     ///< why rows were run one at a time, if they were
  Judgement judgement{};
  double unexplored = 0;  ///< probability of the branches that limits cut
  std::uint64_t calls = 0, predictions = 0;

  /// Returns a lower bound of the distance that holds for all outcomes of unexplored branches and failed rows: an
  /// unknown mass m changes a total variation by at most m.
  double departure() const { return judgement.distance - unexplored - judgement.failed; }
};

/// Explores the program on all inputs of the model and judges the distributions. If mixed batches give no distribution
/// or a wrong one, rows are run one at a time, because the effects of neighbours are judged in the edge tier
/// (batch_checks.hpp).
/// Throws: AdapterError if the program is lost; ProgramSilent.
Answers answers_on(Program& program, const SmallModel& model, const Declaration& declaration,
                   const ExploreOptions& explore);

}  // namespace draftproof::adapters
