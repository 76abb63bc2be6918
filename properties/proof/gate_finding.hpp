// One line of a gate's report, whatever was examined and however: proofs, edge checks, trials, and the components
// around a verifier all end here.
#pragma once

#include <cstdint>
#include <string>

#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/proof/tier.hpp>

namespace draftproof {

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
