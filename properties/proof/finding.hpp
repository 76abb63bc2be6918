// The results of all checks: the answer of a property on one subject, and the finding that reports print.
// Proofs, edge checks, trials, checks of components and of external verifiers all give findings.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace draftproof {

enum class Status { passed, failed, undecided, skipped };

/// Returns the status as printed in reports.
std::string_view to_text(Status status);

// The tiers of checks, strongest first. The gates of a tier have the tier's name as label.

enum class Tier {
  proof,    ///< decided in exact fractions, or for an external program by its exact distribution in double
  edge,     ///< tested by scripted random bits, draw counts and repetition: deterministic, without statistics
  sampled,  ///< tested by trials, with a stated false-alarm rate
};

inline constexpr std::array<Tier, 3> all_tiers{Tier::proof, Tier::edge, Tier::sampled};

constexpr std::string_view to_text(Tier tier) {
  constexpr std::array<std::string_view, 3> names{"proof", "edge", "sampled"};
  return names[static_cast<std::size_t>(tier)];
}

/// Numbers in the evidence, by name, for JSON reports, such as "distance" and "limit" of a check of an exact
/// distribution.
using Numbers = std::vector<std::pair<std::string, double>>;

/// The answer of a property on one model.
struct Answer {
  Status status = Status::skipped;  ///< skipped: the property does not apply
  std::string evidence{};           ///< the evidence of a failure, or why the property is undecided
  Numbers numbers{};

  static Answer passed() { return {Status::passed, {}}; }
  static Answer not_applicable() { return {Status::skipped, {}}; }
  static Answer failed(std::string evidence, Numbers numbers = {}) {
    return {Status::failed, std::move(evidence), std::move(numbers)};
  }
  static Answer undecided(std::string reason) { return {Status::undecided, std::move(reason)}; }
  /// Returns passed() if `condition` is true, else failed(evidence()).
  static Answer passed_if(bool condition, auto&& evidence) { return condition ? passed() : failed(evidence()); }
};

/// The result of one property, or of one statistical component, on all models of a subject; a report shows it in one
/// line.
struct Finding {
  std::string property;
  Tier tier = Tier::proof;
  Status status = Status::skipped;
  std::string evidence{};  ///< the evidence of a failure, why the check is undecided, or a remark on a passed check
  std::string instance{};  ///< the smallest counterexample, as text
  std::string replay{};    ///< command line that reproduces the finding
  std::uint64_t work = 0;  ///< branches enumerated or trials run until the decision
  std::string device{};    ///< the device on which the trials ran; empty if no device was requested
  Numbers numbers{};
  /// The smallest fault that a passed check would have shown, as text; empty if the check does not measure faults.
  std::string sensitivity{};
  int passed = 0;     ///< for a proof: number of instances on which it passed
  int undecided = 0;  ///< for a proof: number of instances that were not decided

  /// Returns the members that a checkpoint stores (properties/blocks/stored_value.hpp).
  static auto fields(auto& f) {
    return std::tie(f.property, f.tier, f.status, f.evidence, f.instance, f.replay, f.work, f.device, f.numbers,
                    f.sensitivity, f.passed, f.undecided);
  }
};

/// Returns the finding that reports an answer. `instance` is the model of the answer as text, and `replay` the command
/// line that reproduces the answer; both are empty if the answer is about all models.
inline Finding finding_of(std::string_view property, Tier tier, Answer answer, std::uint64_t work,
                          std::string instance = {}, std::string replay = {}) {
  return {.property = std::string(property),
          .tier = tier,
          .status = answer.status,
          .evidence = std::move(answer.evidence),
          .instance = std::move(instance),
          .replay = std::move(replay),
          .work = work,
          .numbers = std::move(answer.numbers)};
}

/// The program's name in replay lines, as it was called; "draftproof" by default.
inline std::string& program_name() {
  static std::string name = "draftproof";
  return name;
}

/// Returns the text in single quotes for sh.
std::string in_shell_quotes(std::string_view text);

/// Returns the command line that reproduces a finding: "draftproof VERB SUBJECT --OPTION VALUE ..". An option
/// of one letter has one dash, an option without a value is omitted, and a value with other characters than in
/// names and numbers is quoted for sh.
std::string replay_line(std::string_view verb, std::string_view subject,
                        std::initializer_list<std::pair<std::string_view, std::string>> options);

}  // namespace draftproof
