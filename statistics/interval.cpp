#include <draftproof/statistics/interval.hpp>

#include <boost/math/distributions/binomial.hpp>

namespace draftproof {
namespace {

using Binomial = boost::math::binomial_distribution<double>;

}  // namespace

double lower_confidence_bound(std::uint64_t successes, std::uint64_t trials, double alpha) {
  if (successes == 0) return 0;
  return Binomial::find_lower_bound_on_p(static_cast<double>(trials), static_cast<double>(successes), alpha);
}

double upper_confidence_bound(std::uint64_t successes, std::uint64_t trials, double alpha) {
  if (successes == trials) return 1;
  return Binomial::find_upper_bound_on_p(static_cast<double>(trials), static_cast<double>(successes), alpha);
}

Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double alpha) {
  return {lower_confidence_bound(successes, trials, alpha / 2), upper_confidence_bound(successes, trials, alpha / 2)};
}

}  // namespace draftproof
