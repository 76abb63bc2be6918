#include <draftproof/properties/gate/trace_groups.hpp>

#include <omp.h>

#include <exception>

namespace draftproof {
namespace {

constexpr std::size_t rows_at_once = 512;

/// Reads the rows of a RowItem from the recording and sums them by groups.
class ItemReader {
 public:
  ItemReader(const Trace& trace, TraceGroups& groups, bool greedy)
      : trace_{trace},
        groups_{groups},
        greedy_{greedy},
        rounding_{.significant_bits = trace.dtype() == DType::F16 ? 11 : 24,
                  .logarithms = trace.values() != Values::Probability},
        p_(trace.symbols()),
        q_(trace.symbols()) {}

  void read(std::size_t i, const std::vector<std::size_t>& drafts) {
    RowItem& item = groups_.items[i];
    std::span<const float> p, q;
    DepthSlack slack_p{}, slack_q{};
    if (item.record >= 0) {
      const auto record = static_cast<std::size_t>(item.record);
      slack_p = slack(trace_.distribution(RowsOf::target, record, p_));
      p = p_;
      item.emitted.symbol = trace_.symbol(RowsOf::target, record, trace_.emitted(record));
      item.emitted.p = p_[item.emitted.symbol];
    }
    if (item.q_row >= 0) {
      slack_q = slack(trace_.distribution(RowsOf::proposal, static_cast<std::size_t>(item.q_row), q_));
      q = q_;
      if (item.record >= 0) item.emitted.q = q_[item.emitted.symbol];
    }
    group_rows(p, q, slack_p, slack_q, item.groups);
    const std::size_t first = trace_.draft_start(groups_.first_block);
    for (const std::size_t d : drafts) {
      DraftItem& draft = groups_.drafts[d - first];
      draft.item = i;
      draft.drawn.symbol = trace_.symbol(RowsOf::proposal, static_cast<std::size_t>(item.q_row), trace_.draft(d));
      draft.drawn.q = q_[draft.drawn.symbol];
      draft.drawn.p = item.record >= 0 ? p_[draft.drawn.symbol] : 0;
      if (greedy_) count_likelier(draft);
    }
  }

 private:
  /// Counts the tokens that are likelier than the draft by a factor above 1 + 2^-20. Smaller differences may come from
  /// rounding: the blocks of a row are scaled separately, with relative errors below 2^-22, and adjacent float32
  /// logarithms beyond 1 are 2^-23 apart.
  void count_likelier(DraftItem& draft) const {
    const float least = draft.drawn.q * (1 + 0x1p-20f);
    for (const float value : q_) draft.likelier += value > least;
  }

  DepthSlack slack(double log_sum) const { return depth_slack(rounding_, rounding_.logarithms ? log_sum : 0); }

  const Trace& trace_;
  TraceGroups& groups_;
  bool greedy_;
  RowRounding rounding_;
  std::vector<float> p_, q_;
};

}  // namespace

TraceGroups read_groups(const Trace& trace, std::size_t first_block, bool judge_drafts, bool greedy, int threads) {
  TraceGroups groups{.first_block = first_block, .end_block = first_block};
  const std::size_t first_q = trace.q_start(first_block), first_draft = trace.draft_start(first_block);
  while (groups.end_block < trace.blocks() && groups.items.size() < rows_at_once) {
    const std::size_t b = groups.end_block++;
    groups.item_of_q_row.resize(trace.q_start(b + 1) - first_q, no_item);
    for (std::size_t r = trace.block_start(b); r < trace.block_start(b + 1); ++r) {
      const std::int64_t row = trace.emitted_q(r);
      if (row >= 0) groups.item_of_q_row[static_cast<std::size_t>(row) - first_q] = groups.items.size();
      groups.item_of_record.push_back(groups.items.size());
      groups.items.push_back({.record = static_cast<std::int64_t>(r), .q_row = row});
    }
    for (std::size_t j = trace.q_start(b); judge_drafts && j < trace.q_start(b + 1); ++j) {
      if (groups.item_of_q_row[j - first_q] != no_item) continue;
      groups.item_of_q_row[j - first_q] = groups.items.size();
      groups.items.push_back({.q_row = static_cast<std::int64_t>(j)});
    }
  }
  groups.drafts.resize(trace.draft_start(groups.end_block) - first_draft);
  std::vector<std::vector<std::size_t>> drafts_of(groups.items.size());
  for (std::size_t d = first_draft; d < first_draft + groups.drafts.size(); ++d) {
    const std::size_t item = groups.item_of_q_row[trace.draft_q(d) - first_q];
    groups.drafts[d - first_draft].item = item;
    if (item != no_item) drafts_of[item].push_back(d);
  }

  [[maybe_unused]] const int workers = threads > 0 ? threads : omp_get_max_threads();
  const auto count = static_cast<std::int64_t>(groups.items.size());
  std::exception_ptr failure;
  std::int64_t failed = count;
#pragma omp parallel num_threads(workers)
  {
    ItemReader reader(trace, groups, greedy);
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t i = 0; i < count; ++i) {
      try {
        reader.read(static_cast<std::size_t>(i), drafts_of[static_cast<std::size_t>(i)]);
      } catch (...) {
#pragma omp critical(trace_groups)
        if (i < failed) {
          failed = i;
          failure = std::current_exception();
        }
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  return groups;
}

bool is_chain(const Trace& trace, std::size_t b) {
  const std::size_t first = trace.draft_start(b), end = trace.draft_start(b + 1);
  for (std::size_t d = first; d < end; ++d)
    if (trace.draft_parent(d) != static_cast<std::int64_t>(d - first) - 1) return false;
  return true;
}

}  // namespace draftproof
