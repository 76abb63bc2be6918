// What the laws of a program on one model say to each check of the proof tier (law_checks.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/explorer/explore.hpp>
#include <draftproof/adapters/gate/judgement.hpp>
#include <draftproof/adapters/gate/toy.hpp>
#include <draftproof/adapters/program.hpp>
#include <draftproof/properties/proof/finding.hpp>

namespace draftproof::adapters {

/// The names of the checks, in the order of findings: those of law_checks.hpp, then the registered properties of the
/// law that is emitted (properties/prover/distribution_property.hpp).
std::vector<std::string_view> law_checks();

/// The places of the former among law_checks().
namespace law_check {
enum Place : std::size_t { exact_law, zero_support, answers, function, optimum, inputs_unchanged, first_registered };
}

/// What one instance says to each check.
struct Answers {
  std::vector<std::optional<Answer>> violated = std::vector<std::optional<Answer>>(law_checks().size());
  std::optional<std::string> undecided{};
  std::optional<std::string> unjudged{};  ///< why rows that fail leave the law open
  bool answered = false;                  ///< whether any run ended in another way than by a failure
  std::string failure{};                  ///< message of a row that failed
  bool unsettled = false;                 ///< predictions still failed, or a race is not decided
  std::string note{};                     ///< why rows were run one at a time, if they were
  Judgement judgement{};
  double unexplored = 0;  ///< probability that limits cut
  std::uint64_t calls = 0, predictions = 0;

  /// The distance whatever the branches do that were not explored, and whatever rows that fail should have emitted:
  /// mass m that may go anywhere changes a total variation by at most m.
  double departure() const { return judgement.distance - unexplored - judgement.failed; }
};

/// Explores the program on all inputs of the model and judges the laws. If there is no distribution in mixed batches,
/// or a wrong one, rows are run one at a time; what neighbours change is for the edge tier (batch_checks.hpp).
/// Throws: DoorError if the program is lost; ProgramSilent.
Answers answers_on(Program& program, const Toy& model, const Declaration& declaration, const ExploreOptions& explore);

}  // namespace draftproof::adapters
