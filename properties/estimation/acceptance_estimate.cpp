#include <draftproof/properties/estimation/acceptance_estimate.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/math/distributions/students_t.hpp>
#include <cassert>
#include <cmath>
#include <stdexcept>
#include <string>

#include <draftproof/properties/estimation/quasi_random_drafts.hpp>
#include <draftproof/sim/numeric/sums.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof {

namespace {

using TableDecider = Decider<RatioTable, Explorer<double>>;

/// Computes the conditional acceptance of tuples, for one thread.
class TupleEnumeration {
 public:
  explicit TupleEnumeration(const TableDecider& decider) : decider_{decider} {}

  void operator()(const TupleStream& stream, std::span<double> outcomes) {
    const std::span<const Token> tuple = stream.tuple();
    distinct_.assign(tuple.begin(), tuple.end());
    std::sort(distinct_.begin(), distinct_.end());
    distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    explorer_.track_only(distinct_);
    explorer_.fix_picks(stream.spare());
    double draft_accepted = 0, draft_emitted = 0;
    const auto add = [&](Token x, int accepted, double probability) {
      const bool drafted = among(x, distinct_.data(), static_cast<int>(distinct_.size()));
      if (drafted) draft_emitted += probability;
      if (accepted >= 0 || (accepted == accepted_if_drafted && drafted)) draft_accepted += probability;
    };
    const bool whole = explorer_.explore(
        [&](Explorer<double>& random) { return decider_.decide(tuple, random); },
        [&](const Leaf<double>& leaf) {
          leaf.each_token([&](Token x, double probability) { add(x, leaf.verdict.accepted, probability); });
        });
    if (!whole) throw std::invalid_argument("acceptance estimate: a tuple has more branches than the limit");
    outcomes[0] = draft_accepted;
    outcomes[1] = draft_emitted;
  }

 private:
  const TableDecider& decider_;
  Explorer<double> explorer_;
  std::vector<Token> distinct_;
};

}  // namespace

std::optional<AcceptanceEstimate> estimate_acceptance(const AnyVerifier& verifier, const AnyDrafter& drafter,
                                                      const RatioTable& table, int drafts,
                                                      const EstimateOptions& options) {
  const auto decider = verifier.explore_on(table, drafts);
  if (!decider) throw std::invalid_argument(std::string(verifier.info().name) + " cannot be enumerated on tables");
  const DraftPoints points(drafter, table, drafts);
  const TupleControls controls(points);
  const auto means = replicated_means(points, controls, 2, options, [&] { return TupleEnumeration(*decider); });
  if (means.empty()) return std::nullopt;
  const auto replicates = static_cast<std::uint64_t>(options.replicates);
  return AcceptanceEstimate{means[0], means[1], TupleStream(points, options, 0).size() * replicates, points.form()};
}

namespace {

/// Purposes, which select independent random bits. They differ from the purposes of drafters and verifiers, batches of
/// gates, shared noise and scramblings.
constexpr std::uint32_t replicate_purpose = 0x44000000, point_purpose = 0x45000000;

/// A fit of d controls on n samples makes the residual sum of squares too small by a fraction d / n on these samples,
/// and adds about this fraction to the variance on other samples. With ten samples per control it is at most a tenth.
constexpr double fewest_samples_a_control = 10;

}  // namespace

Interval ReplicatedMean::interval(double confidence) const {
  const boost::math::students_t distribution(replicates - 1);
  const double half =
      boost::math::quantile(boost::math::complement(distribution, (1 - confidence) / 2)) * standard_error;
  return {mean - half, mean + half};
}

TupleStream::TupleStream(const DraftPoints& points, const EstimateOptions& options, int replicate)
    : points_{points},
      set_{options.points},
      size_{std::bit_floor(
          std::max<std::uint64_t>(1, options.tuples / static_cast<std::uint64_t>(options.replicates)))},
      seed_{philox_pair(options.seed, static_cast<std::uint64_t>(replicate), 0, replicate_purpose).first},
      words_(static_cast<std::size_t>(points.drafts() + spare_words)),
      sobol_(std::min(points.drafts() + spare_words, ScrambledSobol::max_dimensions), seed_) {
  assert(options.replicates >= 2);
}

std::span<const std::uint64_t> TupleStream::spare() const {
  return std::span(words_).subspan(static_cast<std::size_t>(points_.drafts()));
}

void TupleStream::go(std::uint64_t index) {
  std::size_t filled = 0;
  if (set_ == PointSet::sobol) {
    sobol_.point(index, words_);
    filled = std::min(words_.size(), static_cast<std::size_t>(ScrambledSobol::max_dimensions));
  }
  for (; filled < words_.size(); ++filled)
    words_[filled] = philox_pair(seed_, index, static_cast<std::uint32_t>(filled), point_purpose).first;
  if (const int bits = std::countr_zero(size_); set_ == PointSet::stratified && bits > 0)
    words_[0] = index << (64 - bits) | words_[0] >> bits;
  length_ = points_.draw(words_.data(), seed_, index, tuple_);
}

std::vector<ReplicatedMean> joined(const std::vector<ControlSums>& replicates, std::span<const double> means,
                                   bool controls) {
  const std::size_t d = controls ? means.size() : 0, outcomes = replicates.front().outcome.size();
  std::array<std::vector<double>, 2> beta;
  for (std::size_t half = 0; half < 2; ++half) {
    ControlSums sums(d, outcomes);
    for (std::size_t r = half; r < replicates.size(); r += 2) sums += replicates[r];
    if (sums.samples < fewest_samples_a_control * static_cast<double>(d))
      beta[half].assign(outcomes * d, 0);
    else
      beta[half] = sums.coefficients();
  }
  std::vector<ReplicatedMean> out;
  for (std::size_t o = 0; o < outcomes; ++o) {
    std::vector<double> values;
    NeumaierSum total;
    for (std::size_t r = 0; r < replicates.size(); ++r) {
      const ControlSums& sums = replicates[r];
      const double* const b = beta[1 - r % 2].data() + o * d;
      double value = sums.outcome[o] / sums.samples;
      for (std::size_t i = 0; i < d; ++i) value -= b[i] * (sums.control[i] / sums.samples - means[i]);
      values.push_back(value);
      total.add(value);
    }
    const auto count = static_cast<double>(replicates.size());
    const double mean = total.value() / count;
    NeumaierSum squares;
    for (const double value : values) squares.add((value - mean) * (value - mean));
    out.push_back({mean, std::sqrt(squares.value() / (count * (count - 1))), static_cast<int>(replicates.size())});
  }
  return out;
}

}  // namespace draftproof
