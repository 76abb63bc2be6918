// What the laws of a program on one model say to each check of the proof tier (law_checks.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/explorer/explore.hpp>
#include <draftproof/adapters/gate/judgement.hpp>
#include <draftproof/adapters/gate/toy.hpp>
#include <draftproof/adapters/program.hpp>

namespace draftproof::adapters {

inline constexpr std::array<std::string_view, 6> law_checks{"exact_law", "zero_support", "answers",
                                                            "function",  "optimum",      "inputs_unchanged"};

/// In words, and in numbers for reports in data.
struct Evidence {
  std::string text{};
  std::vector<std::pair<std::string, double>> numbers{};
};

/// What one instance says to each check: the evidence of a violation, or nothing.
struct Answers {
  std::array<std::optional<Evidence>, law_checks.size()> violated{};
  std::optional<std::string> undecided{};
  std::optional<std::string> unjudged{};  ///< why rows that fail leave the law open
  bool answered = false;                  ///< whether any run ended in another way than by a failure
  std::string failure{};                  ///< message of a row that failed
  bool unsettled = false;                 ///< predictions still failed, or a race is not decided
  std::string note{};                     ///< why rows were run one at a time, if they were
  Judgement judgement{};
  double unexplored = 0;  ///< probability that limits cut
  std::uint64_t calls = 0, predictions = 0;

  /// The distance whatever the branches do that were not explored, and whatever rows that fail should have emitted: mass m
  /// that may go anywhere changes a total variation by at most m.
  double departure() const { return judgement.distance - unexplored - judgement.failed; }
};

/// Explores the program on all inputs of the model and judges the laws. If there is no distribution in mixed batches, or
/// a wrong one, rows are run one at a time; what neighbours change is for the edge tier (batch_checks.hpp).
/// Throws: DoorError if the program is lost; ProgramSilent.
Answers answers_on(Program& program, const Toy& model, const Declaration& declaration, const ExploreOptions& explore);

}  // namespace draftproof::adapters
