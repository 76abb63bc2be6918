// The sampled tier of a gate: trials of the gate's verifier at one position of a source.
#pragma once

#include <optional>
#include <string>

#include <draftproof/properties/gate/gate.hpp>

namespace draftproof {

struct SampledPosition {
  std::optional<Finding> finding{};
  std::optional<Finding> parity{};  ///< comparison of the requested device with the CPU
  std::string note{};               ///< why there is no finding, or where trials ran if a device was requested
};

/// Returns the standard source: a Zipf target, and a draft that differs by a factor exp(0.8 Gaussian) at every
/// token. The power tables in docs/studies/gate_power.md use it too.
std::string standard_source(int vocabulary, int proposals);

/// Returns a source of at most 8 tokens, of which one has p = 0.95 and usually a larger q. Such rows are frequent at
/// low temperatures, and a program may treat likely tokens separately; in the standard source with V = 1031 the largest
/// p is 0.08. V is small because the smallest p and q, about 1e-4 and 1e-6, must not be lost in a program's rounding.
std::string likely_token_source(int vocabulary, int proposals);

/// Tests the verifier's output distribution with this drafter at the source, position and number of drafts of
/// the options. The standard source has V = 32,000, or V = 12 if noise is shared or a plan enumerates tuples. If
/// trials make passes over the vocabulary, V is reduced to the profile's limit of tokens, and the note gives V.
/// Throws: InputError for a source that cannot be read.
SampledPosition sample_position(const Gate& gate, const AnyDrafter& drafter, const GateOptions& options);

}  // namespace draftproof
