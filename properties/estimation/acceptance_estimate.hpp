// Estimates the acceptance of a verifier at one position with much less noise than counted trials have. The exact
// conditional acceptance of a draft tuple is averaged over replicated tuples from scrambled Sobol points, with control
// variates.
//
//   draft_accepted         accepted (verifier's count)
//   draft_emitted          accepted (any draft emitted)
//
// Given its drafts, a verifier is enumerated branch by branch on the table. For the final draw of the token, only the
// weights of the drafts and the total weight are read, unless the weight of a single token cannot be computed; then all
// tokens are enumerated. A pick among many items (the levels of a ladder) is not enumerated but drawn, with a separate
// coordinate of the point.
//
// The error is estimated from the replicates, without a proven bound, so no test of a gate uses the estimate.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include <draftproof/properties/estimation/quasi_random_drafts.hpp>
#include <draftproof/properties/statistics/control_variates.hpp>
#include <draftproof/properties/statistics/sample_size.hpp>
#include <draftproof/properties/statistics/sobol.hpp>
#include <draftproof/sim/trials/run_trials.hpp>

namespace draftproof {

// Averages over draft tuples from evenly spread points, with an error estimated by repetition. Each of R independent
// scramblings of n points gives one average.
//
//   y_r      mean of the outcomes of replicate r
//   z_r      mean of the controls of replicate r minus their known means (TupleControls)
//   beta     least-squares coefficients from the odd replicates if r is even, and vice versa
//   e_r      y_r - beta z_r
//
//   estimate = mean of e_r, standard error = sqrt(sum (e_r - mean)^2 / (R (R - 1)))
//
// Replicates are computed in parallel and joined in their order, so results do not depend on threads.
//
// Correctness: every scrambled point by itself is uniform, and beta is fitted on one half of the scramblings and
// applied to the other, independent half, so the average is unbiased. Halves are made of whole replicates,
// because the even and the odd points of one scrambling lie in different parts of the cube. The error is
// empirical: no bound is known on how far averages of scrambled points are from normal. The usual practice is a
// t interval over at least 16 replicates.
//
// Cost: for each tuple one point, K draws, the computation of the outcomes, and about (2 K)^2 products.

enum class PointSet {
  random,      ///< independent uniform points
  stratified,  ///< one point in each stratum of the first coordinate
  sobol,       ///< scrambled Sobol points
};

struct EstimateOptions {
  std::uint64_t tuples = std::uint64_t{1} << 16;  ///< rounded down to replicates times a power of two
  int replicates = 16;                            ///< at least 2
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  PointSet points = PointSet::sobol;
  bool controls = true;                     ///< whether to use controls if each half has >= 10 tuples per control
  const std::atomic<bool>* stop = nullptr;  ///< set by the caller to end without a result
};

struct ReplicatedMean {
  double mean = 0, standard_error = 0;
  int replicates = 0;
  /// Returns the t interval of this confidence; empirical.
  Interval interval(double confidence) const;
};

/// Number of coordinates for the verifier's draws, in addition to one coordinate per draft.
inline constexpr int spare_words = 1;

/// Iterates over the tuples of one replicate.
class TupleStream {
 public:
  TupleStream(const DraftPoints& points, const EstimateOptions& options, int replicate);

  /// Returns the number of tuples.
  std::uint64_t size() const { return size_; }
  /// Moves to tuple `index`.
  void go(std::uint64_t index);
  std::span<const Token> tuple() const { return {tuple_, static_cast<std::size_t>(length_)}; }
  /// Returns the coordinates of the current point that are left for the verifier's draws, as random bits.
  std::span<const std::uint64_t> spare() const;

 private:
  const DraftPoints& points_;
  PointSet set_;
  std::uint64_t size_, seed_;
  std::vector<std::uint64_t> words_;
  ScrambledSobol sobol_;
  Token tuple_[max_drafts];
  int length_ = 0;
};

/// Returns the means over replicates, one for each outcome; `means` are the known means of the controls.
std::vector<ReplicatedMean> joined(const std::vector<ControlSums>& replicates, std::span<const double> means,
                                   bool controls);

/// Returns the mean of each outcome over all tuples; empty after an interrupt. `make()` returns a callable (const
/// TupleStream&, std::span<double>) for one replicate, which writes the `outcomes` numbers of the stream's current
/// tuple. Throws: any exception of a callable.
template <class Controls, class Make>
std::vector<ReplicatedMean> replicated_means(const DraftPoints& points, const Controls& controls,
                                             std::size_t outcomes, const EstimateOptions& options, Make&& make) {
  const std::size_t d = options.controls ? controls.means().size() : 0;
  std::vector<ControlSums> sums(static_cast<std::size_t>(options.replicates), ControlSums(d, outcomes));
  std::exception_ptr failure;
  const auto stopped = [&] { return options.stop && options.stop->load(std::memory_order_relaxed); };
  const int threads = threads_of(options.threads);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (int r = 0; r < options.replicates; ++r) {
    try {
      TupleStream stream(points, options, r);
      auto outcome = make();
      std::vector<double> values(outcomes);
      std::vector<Control> listed;
      for (std::uint64_t i = 0; i < stream.size() && !stopped(); ++i) {
        stream.go(i);
        outcome(stream, std::span<double>(values));
        if (d > 0) controls.list(stream.tuple().data(), listed);
        sums[static_cast<std::size_t>(r)].add(values, std::span<const Control>(listed));
      }
    } catch (...) {
#pragma omp critical
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  if (stopped()) return {};
  return joined(sums, controls.means(), options.controls);
}

struct AcceptanceEstimate {
  ReplicatedMean draft_accepted, draft_emitted;
  std::uint64_t tuples;  ///< number of tuples enumerated
  DraftPoints::Form form;
};

/// Whether a scheme's acceptance can be estimated: it can be enumerated, and simulated on tables.
inline bool can_be_estimated(const AnyVerifier& verifier) {
  return verifier.info().precision_audited() && verifier.info().unsupported.explore.empty() &&
         verifier.info().unsupported.simulate.empty();
}

/// Returns the estimate; nullopt after an interrupt. Throws: std::invalid_argument if the scheme cannot be
/// estimated or has more branches on a tuple than an explorer's default limit.
std::optional<AcceptanceEstimate> estimate_acceptance(const AnyVerifier& verifier, const AnyDrafter& drafter,
                                                      const RatioTable& table, int drafts,
                                                      const EstimateOptions& options);

}  // namespace draftproof
