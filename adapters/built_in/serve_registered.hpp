// Serves a registered verifier through the wire protocol, to test hosts and to compare engines with it.
// built_in_verifier.hpp describes names and options.
#pragma once

#include <memory>
#include <string_view>

#include <draftproof/adapters/built_in/built_in_verifier.hpp>
#include <draftproof/adapters/wire/served.hpp>

namespace draftproof::adapters {

/// Rows are probabilities in float64 or float32. A seeded row with seed s runs on the random bits of trial s of
/// options.seed, as simulate_on does. Throws: AdapterError if the name or an option is unknown.
std::unique_ptr<Served> serve_registered(std::string_view name, const BuiltInOptions& options = {});

/// Returns the input of one row of a batch, without padding. If the batch is a request to draft, the input has only q,
/// from which batch.drafts_a_row drafts are to be drawn. Throws: RowRefused on logits, on 16-bit rows, and if the
/// numbers of rows or their lengths do not fit the level.
Input input_of(const ServedBatch& batch, int row, Level level);

}  // namespace draftproof::adapters
