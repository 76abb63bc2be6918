// The sampled tier of a gate: trials of its verifier at one position of a source.
#pragma once

#include <optional>
#include <string>

#include <draftproof/properties/gate/gate.hpp>

namespace draftproof {

struct SampledPosition {
  std::optional<GateFinding> finding{};
  std::optional<GateFinding> parity{};  ///< of the device that was asked for, with the host
  std::string note{};                   ///< why there is no finding, or where trials ran if a device was asked for
};

/// Zipf-like target and a draft off by a factor exp(0.8 Gaussian) at every token: the pair of the power tables in
/// docs/studies/gate_power.md. V = 12 where a trial passes over the vocabulary or a plan enumerates tuples.
std::string standard_source(int vocabulary, int proposals);

/// The verifier's law under this drafter, by the source, position and number of drafts of the options. Throws
/// InputError for a source that cannot be read.
SampledPosition sample_position(const Gate& gate, const AnyDrafter& drafter, const GateOptions& options);

}  // namespace draftproof
