// Compares a program's own drafter with the draft sampling that it declares. Verifiers rely on that sampling: drafts
// from another distribution make a correct verifier lossy.
//
//   check           counts                                  against
//   draft_sampling  whole tuples, on small models           the distribution's tuples, in fractions
//   draft_noise     the first draft, at large vocabularies  q, if it is the distribution of the first draft
//
// The distributions of both checks are computed from the row after rounding to the type in which the program reads it.
//
// For a chain the checks draw one token from each row. For a tree they draw the drafts at one node, whose distribution
// is that of siblings under the tree sampling. Both checks are e-values (properties/statistics/e_table.hpp) on a fixed
// number of planned draws. Noise in half precision has few values, so tokens of small probability never win a race;
// large vocabularies reveal this. If noise can be 0, tokens with q = 0 can win, so the largest vocabulary is tested
// again with q > 0 on 64 tokens only.
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <draftproof/adapters/gate/distribution_text.hpp>
#include <draftproof/adapters/wire/batch_packer.hpp>
#include <draftproof/adapters/wire/result_reader.hpp>
#include <draftproof/adapters/wire/served.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/sim/random/explorer.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof::adapters {

/// Drafts from a program's own drafter, in batches of rows with one proposal.
class DrawBatches {
 public:
  /// Draws tuples of `drafts` tokens from the row `proposal`, in the number format of trials.
  DrawBatches(Served& program, const std::vector<double>& proposal, int drafts)
      : program_{program},
        drafts_{drafts},
        vocabulary_{static_cast<int>(proposal.size())},
        form_{form_of_trials(program.declaration())} {
    constexpr std::size_t most_bytes = std::size_t{16} << 20;
    const std::size_t row_bytes = proposal.size() * width(form_.dtype);
    rows_ =
        std::clamp<std::size_t>(most_bytes / row_bytes, 1, static_cast<std::size_t>(program.declaration().most_rows));
    q_.resize(rows_ * row_bytes);
    for (std::size_t i = 0; i < rows_; ++i) store_row(proposal, form_, q_.data() + i * row_bytes);
  }

  /// Calls `visit(tuple)` for trials first .. first + count - 1 of a seed, in order.
  /// Throws: AdapterError if a row has another status than ok.
  template <class Visit>
  void draw(std::uint64_t seed, std::uint64_t first, std::uint64_t count, Visit visit) {
    const Declaration& declaration = program_.declaration();
    for (std::uint64_t done = 0; done < count;) {
      const std::size_t size = std::min<std::uint64_t>(rows_, count - done);
      const int rows = static_cast<int>(size);
      std::vector<std::int64_t> seeds(size);
      constexpr std::uint32_t purpose = 0x201;
      for (std::size_t i = 0; i < size; ++i)
        seeds[i] = static_cast<std::int64_t>(philox_pair(seed, first + done + i, 0, purpose).first >> 1);
      ServedBatch batch{.rows = rows,
                        .vocabulary = vocabulary_,
                        .drafts_a_row = drafts_,
                        .proposal_rows = 1,
                        .dtype = form_.dtype,
                        .kind = form_.kind,
                        .randomness = declaration.can(Randomness::seeded) ? Randomness::seeded : Randomness::opaque,
                        .q = std::span(q_).first(size * (q_.size() / rows_))};
      if (batch.randomness == Randomness::seeded) batch.seeds = seeds;
      ServedResult result;
      size_result(batch, WireFunction::draft, result);
      program_.draft(batch, result);
      for (int i = 0; i < rows; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (result.status[at] != 0 || result.counts[at] < 1) refuse(result, i);
        visit(std::span<const std::int32_t>(result.tokens_of(i)).first(static_cast<std::size_t>(result.counts[at])));
      }
      done += size;
    }
  }

 private:
  [[noreturn]] void refuse(const ServedResult& result, int row) const {
    const auto at = static_cast<std::size_t>(row);
    const auto message = result.messages.find(row);
    const Outcome outcome{.status = static_cast<RowStatus>(result.status[at]),
                          .message = message == result.messages.end() ? "" : message->second};
    constexpr auto failed = static_cast<std::int32_t>(RowStatus::failed);
    if (std::all_of(result.status.begin(), result.status.end(), [](std::int32_t each) { return each == failed; }))
      throw ProgramFails(program_.declaration().name, one_line(outcome.message));
    throw AdapterError(fmt::format("{}: draft: row {}: got {} drafts, {}, expected a tuple of drafts",
                                   program_.declaration().name, row, result.counts[at], outcome_text(outcome)));
  }

  Served& program_;
  int drafts_, vocabulary_;
  RowForm form_;
  std::size_t rows_ = 1;
  std::vector<std::byte> q_;
};

struct DraftCheckOptions {
  int log2_small = 16;  ///< planned draws on each small model
  int log2_large = 14;  ///< planned draws of draft_noise at the first vocabulary
  int log2_kept = 11;   ///< planned draws of draft_noise with 64 possible tokens
  /// The vocabularies of draft_noise, within the program's limit. The rows of the second are four times as long and are
  /// drawn a sixteenth as often, so it takes a quarter of the time of the first.
  std::vector<int> vocabularies{32'000, 128'256};
  double alpha = 1e-9;  ///< probability of a false alarm of all findings together
  std::uint64_t seed = 1;
  ExplorerLimits limits{};  ///< limits of draft_sampling on each small model
  std::string adapter{};    ///< text of --adapter, for replay lines
  int drafts = 4;           ///< above 4: drafts of a tuple, at most 6; else tuples have 3 drafts
};

/// Requires a program that has a drafter and is seeded or opaque. Throws: AdapterError.
std::vector<Finding> check_drafts(Served& program, const DraftCheckOptions& options);

}  // namespace draftproof::adapters
