// A survey as blocks: a range of positions each, or a range of the trials at one position if there are many. All rows
// of the survey share a block, so blocks have about equal costs.
//
//   sums     of row r: trials, flagged, members, impossible, accepted drafts by index, processor time in nanoseconds
//   record   of each draft law and number of drafts: positions counted, and the sums of their `single` and optimum
//
// Cost: memory for the rows in work, and the counts and records of at most 2^14 ranges, whatever the number of
// positions. Correctness: values are summed in the order of blocks, inside a block in the order of positions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <draftproof/properties/survey/survey.hpp>

namespace draftproof {

class SurveyBlocks {
 public:
  /// Refers to all three; the rows are planned and not filled.
  SurveyBlocks(const Source& source, const SurveyOptions& options, const std::vector<SurveyRow>& rows);

  /// Runs the blocks of the ledger's process that are not known; whether all are known then.
  bool run(BlockLedger& ledger);
  /// Fills the rows from the known blocks, and after a stop from those cut short; the number of positions whose blocks
  /// are all known.
  std::size_t add_up(const BlockLedger& ledger, std::vector<SurveyRow>& rows) const;

 private:
  /// What rows of one draft law and number of drafts have in common; `single` and `optimum` are sums over positions.
  struct Measure {
    const AnyDrafter* drafter;
    int drafts;
    bool runs;  ///< rows that do not run count every position, others those with trials
    double used = 0, single = 0, optimum = 0;
  };
  struct Filled {
    std::vector<SurveyRow> rows;
    std::vector<Measure> measures;
  };

  class Prepared;

  std::string name() const;
  /// The tables of position i: those of the last block where it was at the same one.
  std::shared_ptr<Prepared> prepared(std::size_t i);
  std::uint64_t first_position(std::uint64_t range) const;
  std::optional<BlockResult> compute(std::uint64_t block, std::uint64_t most_trials, int threads);
  bool at_position(std::size_t i, std::uint64_t part, std::uint64_t most_trials, int threads, Filled& filled);
  static std::vector<std::uint64_t> sums_of(const std::vector<SurveyRow>& rows);
  static void add_sums(const std::vector<std::uint64_t>& sums, std::vector<SurveyRow>& rows);
  static void add_record(const std::string& record, std::vector<Measure>& measures);

  const Source& source_;
  const SurveyOptions& options_;
  const std::vector<SurveyRow>& planned_;
  std::uint64_t ranges_, parts_;
  std::vector<Measure> measures_{};
  std::vector<std::size_t> measure_of_{};  ///< by row
  std::vector<std::pair<std::size_t, Backend>>
      places_;                                   ///< by row: the first position that asked a device, and where
  std::vector<std::vector<AcceptanceAt>> at_{};  ///< by row and position, where the options ask for it; never divided
  std::vector<BlockResult> cut_short_{};
  std::shared_ptr<Prepared> last_{};
  std::atomic<std::uint64_t> tuples_{0};
  std::mutex mutex_{};
};

}  // namespace draftproof
