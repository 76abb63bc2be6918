// The results of the framework: what a property answers on one subject, and the finding that reports show. Proofs,
// edge checks, trials, checks of components and of programs behind a door all give such findings.
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

enum class Status { held, violated, undecided, skipped };

/// The status in words, as reports print it.
std::string_view to_text(Status status);

// The tier of a check, strongest first; also the label of its gates.

enum class Tier {
  proof,    ///< in exact fractions, or the exact law of the program in double
  edge,     ///< by scripted words, ledgers and repetition: deterministic, without a probability law
  sampled,  ///< by trials, with a stated false-alarm rate
};

inline constexpr std::array<Tier, 3> all_tiers{Tier::proof, Tier::edge, Tier::sampled};

constexpr std::string_view to_text(Tier tier) {
  constexpr std::array<std::string_view, 3> names{"proof", "edge", "sampled"};
  return names[static_cast<std::size_t>(tier)];
}

/// What evidence says in numbers, by name, for reports in data: "distance" and "limit" of an exact law.
using Numbers = std::vector<std::pair<std::string, double>>;

/// The answer of a property on one model.
struct Answer {
  Status status = Status::skipped;  ///< skipped: it does not apply
  std::string evidence{};           ///< of a violation, or why it is undecided
  Numbers numbers{};

  static Answer held() { return {Status::held, {}}; }
  static Answer not_applicable() { return {Status::skipped, {}}; }
  static Answer violated(std::string evidence, Numbers numbers = {}) {
    return {Status::violated, std::move(evidence), std::move(numbers)};
  }
  static Answer undecided(std::string reason) { return {Status::undecided, std::move(reason)}; }
  /// held() if `condition` is true, else violated(evidence()).
  static Answer held_if(bool condition, auto&& evidence) { return condition ? held() : violated(evidence()); }
};

/// The result of one property, or one statistical component, on all models of a subject: one line of a report.
struct Finding {
  std::string property;
  Tier tier = Tier::proof;
  Status status = Status::skipped;
  std::string
      evidence{};  ///< of a violation; otherwise why it is undecided, or what is to be known of a check that holds
  std::string instance{};  ///< the smallest counterexample, as text
  std::string replay{};    ///< command line that reproduces it
  std::uint64_t work = 0;  ///< branches walked or trials run until the decision
  std::string device{};    ///< where its trials ran; empty if no device was requested
  Numbers numbers{};
  int held = 0;       ///< of a proof: number of instances on which it held
  int undecided = 0;  ///< of a proof: number of instances that were not decided

  /// What a checkpoint keeps (properties/blocks/stored_value.hpp).
  static auto fields(auto& f) {
    return std::tie(f.property, f.tier, f.status, f.evidence, f.instance, f.replay, f.work, f.device, f.numbers,
                    f.held, f.undecided);
  }
};

/// Returns the finding that reports an answer. `instance` is the text of the model that it was given on, and `replay`
/// the line that replays it; both are empty where the answer is about all models.
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

/// The program that replay lines name: as it was called, set by the command line; "draftproof" by default.
inline std::string& program_name() {
  static std::string name = "draftproof";
  return name;
}

/// The text in single quotes, as sh reads it.
std::string in_shell_quotes(std::string_view text);

/// Returns the command line that reproduces a finding: "draftproof VERB SUBJECT --OPTION VALUE ..". An option of one
/// letter has one dash, one without a value is left out, and a value that is more than a name or a number is quoted
/// for sh.
std::string replay_line(std::string_view verb, std::string_view subject,
                        std::initializer_list<std::pair<std::string_view, std::string>> options);

}  // namespace draftproof
