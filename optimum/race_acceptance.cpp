#include <draftproof/optimum/race_acceptance.hpp>

#include <cmath>
#include <numbers>
#include <numeric>

namespace draftproof::acceptance {
namespace {

/// First and last time: the integrals below 2^-56 are at most K 2^-56, those above 64 at most e^-64.
constexpr int first_octave = -56, last_octave = 6;

/// Nodes per factor of two in time: the fewest with an error of 1e-14 for some angle d < pi / 2. At times rotated by
/// d a difference of probabilities grows by at most sec d. The integrands contain at most `factors` of those, each a
/// probability, or e^-t less a probability, at the time t cos d. The whole is therefore at most
/// 4 sec d (1 + sec d)^factors, and the trapezoid rule in log t errs by that times e^(-2 pi d / h).
int nodes_per_octave(int factors) {
  for (int nodes = 2;; ++nodes) {
    const double frequency = 2 * std::numbers::pi * nodes / std::numbers::ln2;
    for (double angle = 0.05; angle < 1.57; angle += 0.05) {
      const double secant = 1 / std::cos(angle);
      if (4 * secant * std::pow(1 + secant, factors) * std::exp(-frequency * angle) <= 1e-14) return nodes;
    }
  }
}

/// Integral over t > 0 of f(t).
template <class F>
double integrate(int factors, F f) {
  const int nodes = nodes_per_octave(factors);
  double sum = 0;
  for (int n = first_octave * nodes; n <= last_octave * nodes; ++n) {
    const double t = std::exp2(static_cast<double>(n) / nodes);
    sum += t * f(t);
  }
  return sum * std::numbers::ln2 / nodes;
}

/// Tokens with q > 0 by falling p / q; phi at each of their ratios, and its slope to the left of it.
struct Bends {
  std::vector<double> p, q, ratio, phi, slope;

  Bends(const std::vector<double>& target, const std::vector<double>& proposal) {
    std::vector<std::size_t> order;
    double above = 0;  // p-mass of higher ratios, starting with the tokens without q-mass
    for (std::size_t x = 0; x < target.size(); ++x) {
      if (proposal[x] > 0)
        order.push_back(x);
      else
        above += target[x];
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return target[a] / proposal[a] > target[b] / proposal[b]; });
    // Slopes are summed from the last token on, so that the small terms come first.
    slope.resize(order.size());
    double below = 0;
    for (std::size_t k = order.size(); k-- > 0;) slope[k] = below += proposal[order[k]];
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t x = order[k];
      p.push_back(target[x]);
      q.push_back(proposal[x]);
      ratio.push_back(target[x] / proposal[x]);
      phi.push_back(above + ratio[k] * slope[k]);
      above += target[x];
    }
  }
};

}  // namespace

double gls(const std::vector<double>& p, const std::vector<double>& q, int drafts) {
  const Bends at(p, q);
  double missed = 0;
  for (std::size_t x = 0; x < p.size(); ++x)
    if (!(q[x] > 0)) missed += p[x];
  return 1 - missed - integrate(drafts, [&](double t) {
           double sum = 0, tail = 0;  // tail: t G at the ratio
           for (std::size_t k = 0; k < at.p.size(); ++k) {
             const double here = std::exp(-t * at.phi[k]);
             // The piece from this ratio to the previous one; the first piece has no end.
             const double width = k == 0 ? INFINITY : at.ratio[k - 1] - at.ratio[k];
             tail += here * -std::expm1(-t * at.slope[k] * width) / at.slope[k];
             const double own = std::exp(-t) * -std::expm1(-t * (at.phi[k] - 1));
             sum += at.p[k] * own * std::pow(std::exp(-t) - at.q[k] * tail, drafts - 1);
           }
           return drafts * sum;
         });
}

double gumbel_top_k_coupling(const std::vector<double>& p, const std::vector<double>& q, int drafts) {
  const auto most = static_cast<std::size_t>(drafts);
  std::vector<double> ahead(most);  // Pr(n tokens ahead of j, and none won before j)
  return integrate(drafts, [&](double t) {
    double sum = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      if (!(p[j] > 0 && q[j] > 0)) continue;
      const double ratio = p[j] / q[j];
      std::fill(ahead.begin(), ahead.end(), 0);
      ahead[0] = 1;
      for (std::size_t i = 0; i < p.size(); ++i) {
        if (i == j || !(ratio * q[i] > p[i])) continue;
        const double passes = -std::expm1(-t * (ratio * q[i] - p[i]));
        for (std::size_t n = most; n-- > 1;) ahead[n] += passes * (ahead[n - 1] - ahead[n]);
        ahead[0] -= passes * ahead[0];
      }
      sum += p[j] * std::accumulate(ahead.begin(), ahead.end(), 0.0);
    }
    return std::exp(-t) * sum;
  });
}

}  // namespace draftproof::acceptance
