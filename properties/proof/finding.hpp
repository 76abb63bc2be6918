// The results of the framework: a status with its evidence and a command that reproduces it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <draftproof/properties/instances/instance.hpp>

namespace draftproof {

enum class Status { held, violated, undecided, skipped };

/// The status in words, as reports print it.
std::string_view to_text(Status status);

/// The program that replay lines name: as it was called, set by the command line; "draftproof" by default.
inline std::string& program_name() {
  static std::string name = "draftproof";
  return name;
}

/// The result of one property over all instances.
template <class I>
struct FindingOf {
  std::string_view property;
  Status status = Status::skipped;
  int held = 0;                 ///< number of instances on which it held
  int undecided = 0;            ///< number of instances that were not decided
  std::string evidence{};       ///< of a violation; otherwise why it is undecided
  std::optional<I> instance{};  ///< the shrunk counterexample
  std::string replay{};         ///< command line that reproduces it
};

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

// One line of a gate's report. Proofs, edge checks, trials and checks of components all give such lines.

struct GateFinding {
  std::string check;  ///< name of the property or statistical component
  Tier tier = Tier::proof;
  Status status = Status::skipped;
  std::string
      evidence{};  ///< of a violation; otherwise why it is undecided, or what is to be known of a check that holds
  std::string instance{};  ///< the smallest counterexample, as text
  std::string replay{};    ///< command line that reproduces it
  std::uint64_t work = 0;  ///< branches walked or trials run until the decision
  std::string device{};    ///< where its trials ran; empty if no device was requested
  /// What the evidence says in numbers, by name, for reports in data: "distance" and "limit" of an exact law.
  std::vector<std::pair<std::string, double>> numbers{};

  /// What a checkpoint keeps (properties/blocks/stored_value.hpp).
  static auto fields(auto& f) {
    return std::tie(f.check, f.tier, f.status, f.evidence, f.instance, f.replay, f.work, f.device, f.numbers);
  }
};

/// The line of an instance-by-instance finding; `work` is the number of branches or trials that it took.
template <class I>
GateFinding gate_finding(const FindingOf<I>& finding, Tier tier, std::uint64_t work) {
  return {.check = std::string(finding.property),
          .tier = tier,
          .status = finding.status,
          .evidence = finding.evidence,
          .instance = finding.instance ? finding.instance->text() : std::string{},
          .replay = finding.replay,
          .work = work};
}

}  // namespace draftproof
