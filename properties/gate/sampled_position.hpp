// The sampled tier of a gate: trials of the gate's verifier at one position of a source.
#pragma once

#include <optional>
#include <string>

#include <draftproof/properties/gate/gate.hpp>

namespace draftproof {

struct SampledPosition {
  std::optional<Finding> finding{};
  std::optional<Finding> parity{};  ///< comparison of the requested device with the host
  std::string note{};               ///< why there is no finding, or where trials ran if a device was requested
};

/// Specification of the standard source: a Zipf-like target, and a draft that is off by a factor exp(0.8 Gaussian) at
/// every token. It is the pair of the power tables in docs/studies/gate_power.md.
std::string standard_source(int vocabulary, int proposals);

/// Tests the verifier's law under this drafter at the source, position and number of drafts of the options. The
/// standard source has V = 32,000; V = 12 if noise is shared or a plan enumerates tuples; and where trials draw from weights
/// of their own, in passes over the vocabulary, a V that fits the profile's tokens, which the note then says.
/// Throws: InputError for a source that cannot be read.
SampledPosition sample_position(const Gate& gate, const AnyDrafter& drafter, const GateOptions& options);

}  // namespace draftproof
