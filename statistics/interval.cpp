#include <draftproof/statistics/interval.hpp>

#include <boost/math/distributions/binomial.hpp>

namespace draftproof {

Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double alpha) {
  if (trials == 0) return {0, 1};
  using Binomial = boost::math::binomial_distribution<double>;
  const auto n = static_cast<double>(trials), k = static_cast<double>(successes);
  return {successes == 0 ? 0 : Binomial::find_lower_bound_on_p(n, k, alpha / 2),
          successes == trials ? 1 : Binomial::find_upper_bound_on_p(n, k, alpha / 2)};
}

}  // namespace draftproof
