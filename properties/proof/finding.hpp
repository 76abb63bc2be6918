// What the framework says about a property: never a bare bool, always with its evidence and a way to see it again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <draftproof/properties/instances/instance.hpp>

namespace draftproof {

enum class Status { held, violated, undecided, skipped };

std::string_view to_text(Status status);

template <class I>
struct FindingOf {
  std::string_view property;
  Status status = Status::skipped;
  int held = 0;                 ///< instances on which it held
  int undecided = 0;            ///< instances given up
  std::string evidence{};       ///< of a violation; otherwise why nothing was decided
  std::optional<I> instance{};  ///< the shrunk counterexample
  std::string replay{};         ///< command line that shows it again
};

// How a question about a verifier is decided, strongest first; also the label of its gates.

enum class Tier {
  proof,    ///< in exact fractions, or the exact law of the program in double
  edge,     ///< by scripted words, ledgers and repetition: deterministic, without a law
  sampled,  ///< by trials, with a stated false-alarm rate
};

inline constexpr std::array<Tier, 3> all_tiers{Tier::proof, Tier::edge, Tier::sampled};

constexpr std::string_view to_text(Tier tier) {
  constexpr std::array<std::string_view, 3> names{"proof", "edge", "sampled"};
  return names[static_cast<std::size_t>(tier)];
}

// One line of a gate's report, whatever was examined and however: proofs, edge checks, trials, and the components
// around a verifier all end here.

struct GateFinding {
  std::string check;  ///< property or statistical component
  Tier tier = Tier::proof;
  Status status = Status::skipped;
  std::string evidence{};  ///< of a violation; otherwise why nothing was decided
  std::string instance{};  ///< the smallest counterexample, as text
  std::string replay{};    ///< command line that shows it again
  std::uint64_t work = 0;  ///< branches walked or trials run until it was decided
  std::string device{};    ///< where its trials ran; empty if nobody asked for a device
};

/// What an instance-by-instance finding says, with the branches or trials it took.
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
