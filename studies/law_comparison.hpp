// Compares draft laws and the verifiers written for them on the positions of one source. Optima and closed forms are
// exact at every position; other acceptances are simulated with equally many tuples at each position.
//
//   value[i]   optimum, or acceptance by a closed form, at position i
//   tally[i]   tuples simulated at position i
//
// With equal numbers of tuples, the interval of the count is one of the plain mean over positions
// (statistics/interval.hpp).
#pragma once

#include <map>
#include <span>
#include <utility>

#include <draftproof/optimum/iid_acceptance.hpp>
#include <draftproof/properties/prover/registry.hpp>
#include <draftproof/properties/simulation/law_optimum.hpp>
#include <draftproof/properties/simulation/simulation.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/statistics/interval.hpp>
#include <draftproof/studies/positions.hpp>

namespace draftproof {

/// One law at one number of drafts: its optimum, or one verifier's acceptance.
struct LawRow {
  using ClosedForm = double (*)(const std::vector<double>&, const std::vector<double>&, int);

  const AnyDrafter* law;
  const AnyVerifier* verifier;  ///< null: the optimum
  int drafts;
  ClosedForm closed = nullptr;
  std::vector<double> value{};
  std::vector<Tally> tally{};

  bool simulated() const { return verifier && !closed; }
};

class LawComparison {
 public:
  /// Rows for the optimum of each law at each of `numbers` drafts, and for every verifier of that law at the first
  /// `for_verifiers` of these. A verifier of any law is taken with i.i.d. and with fixed drafts.
  LawComparison(const Source& source, std::span<const AnyVerifier* const> verifiers,
                std::span<const std::string_view> laws, std::span<const int> numbers, std::size_t for_verifiers,
                std::uint64_t tuples)
      : source_{source}, tuples_{(tuples + source.positions() - 1) / std::max<std::uint64_t>(source.positions(), 1)} {
    for (const std::string_view name : laws) {
      const AnyDrafter* law = registry().drafter(name);
      for (const int drafts : numbers)
        if (defined(*law, drafts)) rows_.push_back({.law = law, .verifier = nullptr, .drafts = drafts});
      for (const AnyVerifier* verifier : verifiers)
        for (const int drafts : numbers.first(for_verifiers))
          if (written_for(*verifier, *law) && verifier->takes(drafts) && defined(*law, drafts))
            rows_.push_back({law, verifier, drafts, closed_form(*law, verifier->info())});
    }
    for (LawRow& row : rows_) {
      row.value.resize(source_.positions());
      row.tally.resize(source_.positions());
    }
  }

  const Source& source() const { return source_; }
  const std::vector<LawRow>& rows() const { return rows_; }
  std::uint64_t intervals() const {
    return static_cast<std::uint64_t>(
        std::count_if(rows_.begin(), rows_.end(), [](const LawRow& row) { return row.simulated(); }));
  }
  std::uint64_t tuples() const { return intervals() * tuples_ * source_.positions(); }

  /// Finished positions; fewer than all after a stop.
  std::size_t positions() const { return static_cast<std::size_t>(std::count(done_.begin(), done_.end(), 1)); }
  const std::vector<char>& done() const { return done_; }

  void work(const StudyOptions& options, Meter& meter) {
    done_ = for_each_position(options, source_.positions(), [&](std::size_t i) {
      const RowPair pair = source_.pair(i);
      const RatioTable table(pair.target, pair.proposals);
      for (LawRow& row : rows_) {
        if (options.stopped()) return;
        if (row.simulated())
          row.tally[i] = simulated(row, table, i, options, meter);
        else if (row.closed)
          row.value[i] = row.closed(pair.target, pair.proposals.front(), row.drafts);
        else
          row.value[i] = optimum_of(*row.law, table, row.drafts).value();
      }
    });
  }

  /// Counts of a simulated row over the finished positions.
  Tally total(const LawRow& row) const {
    Tally sum;
    for (std::size_t i = 0; i < done_.size(); ++i)
      if (done_[i]) sum += row.tally[i];
    return sum;
  }
  /// Mean over the finished positions.
  double mean(const LawRow& row) const {
    if (row.simulated()) {
      const Tally sum = total(row);
      return static_cast<double>(sum.members) / static_cast<double>(sum.trials);
    }
    double sum = 0;
    for (std::size_t i = 0; i < done_.size(); ++i)
      if (done_[i]) sum += row.value[i];
    return sum / static_cast<double>(positions());
  }
  Interval interval(const LawRow& row, double alpha) const {
    const Tally sum = total(row);
    return clopper_pearson(sum.members, sum.trials, alpha);
  }
  /// The row of this verifier, or of the optimum; null if there is none.
  const LawRow* row(std::string_view law, const AnyVerifier* verifier, int drafts) const {
    for (const LawRow& row : rows_)
      if (row.law->info().name == law && row.verifier == verifier && row.drafts == drafts) return &row;
    return nullptr;
  }

 private:
  bool defined(const AnyDrafter& law, int drafts) const {
    return law.defined(static_cast<int>(source_.vocabulary()), drafts,
                       static_cast<int>(source_.proposal_names().size()));
  }
  static bool written_for(const AnyVerifier& verifier, const AnyDrafter& law) {
    const Info& info = verifier.info();
    if (!info.unsupported.simulate.empty()) return false;
    return info.drafts.any() ? law.info().shared_proposal_iid || law.info().fixed
                             : info.drafts.includes(law.info().name);
  }
  static LawRow::ClosedForm closed_form(const AnyDrafter& law, const Info& info) {
    if (!law.info().shared_proposal_iid) return nullptr;
    if (info.name == "recursive_rejection") return &acceptance::recursive_rejection<double>;
    if (info.name == "naive_tree") return &acceptance::naive_tree<double>;
    if (info.name == "sample_and_match") return &acceptance::sample_and_match<double>;
    if (info.name == "k_seq") return &acceptance::k_seq;
    return nullptr;
  }
  Tally simulated(const LawRow& row, const RatioTable& table, std::size_t i, const StudyOptions& options,
                  Meter& meter) const {
    std::uint64_t told = 0;
    const TrialBudget budget{
        .trials = tuples_, .threads = 1, .stop = options.stop, .progress = [&](std::uint64_t now) {
          meter.add(now - told);
          told = now;
        }};
    return simulate(Simulation{*row.verifier, *row.law, row.drafts, options.seed, first_trial(i)}, table, budget);
  }

  const Source& source_;
  std::uint64_t tuples_;  ///< of each simulated row, at each position
  std::vector<LawRow> rows_;
  std::vector<char> done_;
};

}  // namespace draftproof
