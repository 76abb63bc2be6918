// Parametric families of pairs of rows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include <boost/random/gamma_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include <draftproof/captures/family.hpp>
#include <draftproof/captures/filter.hpp>
#include <draftproof/captures/philox_engine.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof::families {

// Two tokens; each model's distribution is one number. It is the smallest case in which target and draft can differ,
// and all results have formulas. Acceptance of one draft is 1 - |target - draft|.
struct Bernoulli {
  static constexpr std::string_view name = "bernoulli";
  static constexpr std::string_view about = "two tokens, token 1 with a given probability";
  static constexpr double vocabulary = 2;

  double target = 0.7, draft = 0.4;

  static constexpr auto parameters() {
    return std::array{Parameter<Bernoulli>{"target", &Bernoulli::target, 0, 1, "target's probability of token 1"},
                      Parameter<Bernoulli>{"draft", &Bernoulli::draft, 0, 1, "draft's probability of token 1"}};
  }

  RowPair pair(std::uint64_t, std::size_t) const { return {{1 - target, target}, {{1 - draft, draft}}}; }
};

// Dirichlet distributions: every distribution on the simplex can occur; a small concentration gives sparse
// distributions. The draft is drawn around the target, so that one number sets their distance.
//
//   p ~ Dirichlet(concentration, ..., concentration)        q ~ Dirichlet(closeness * p)
//
// With closeness 0, q is drawn from the Dirichlet distribution of p, independently of p.
//
// Cost: V gamma variates per row.
//
// Source: the small-shape form Gamma(a) = Gamma(a + 1) U^(1/a), Devroye 1986, in logarithms so that nothing
// underflows.

struct Dirichlet {
  static constexpr std::string_view name = "dirichlet";
  static constexpr std::string_view about = "random distributions of any sparsity, the draft drawn around the target";

  double vocabulary = 1000, concentration = 0.1, closeness = 100, drafts = 1;

  static constexpr auto parameters() {
    using enum ParameterKind;
    return std::array{
        Parameter<Dirichlet>{"vocabulary", &Dirichlet::vocabulary, 2, 1 << 20, "number of tokens", Whole},
        Parameter<Dirichlet>{"concentration", &Dirichlet::concentration, 1e-6, 1e6,
                             "Dirichlet parameter per token; rows are sparse below 1"},
        Parameter<Dirichlet>{"closeness", &Dirichlet::closeness, 0, 1e9,
                             "how close the draft is to the target; 0: independent"},
        Parameter<Dirichlet>{"drafts", &Dirichlet::drafts, 1, 64, "number of different draft models", Whole}};
  }

  RowPair pair(std::uint64_t seed, std::size_t position) const {
    const std::vector<double> flat(static_cast<std::size_t>(vocabulary), concentration);
    RowPair rows{draw(flat, seed, position, 0), {}};
    std::vector<double> around = rows.target;
    for (double& shape : around) shape *= closeness;
    for (std::uint32_t d = 0; d < static_cast<std::uint32_t>(drafts); ++d)
      rows.proposals.push_back(draw(closeness == 0 ? flat : around, seed, position, 1 + d));
    return rows;
  }

 private:
  static std::vector<double> draw(const std::vector<double>& shapes, std::uint64_t seed, std::size_t position,
                                  std::uint32_t stream) {
    PhiloxEngine random(seed, position, stream);
    boost::random::uniform_01<double> uniform;
    std::vector<double> logarithms(shapes.size(), -std::numeric_limits<double>::infinity());
    for (std::size_t token = 0; token < shapes.size(); ++token) {
      if (shapes[token] == 0) continue;
      // 1 - U lies in (0, 1], so its logarithm is finite. For a tiny shape the quotient may be -inf, probability 0.
      const double spread = std::log(1 - uniform(random)) / shapes[token];
      logarithms[token] = std::log(boost::random::gamma_distribution<double>(shapes[token] + 1)(random)) + spread;
    }
    return filtered_softmax(logarithms, {});
  }
};

// Softmax of Gaussian logits. The draft's logits are the target's logits plus Gaussian errors, as for an imperfect copy
// of a model.
//
//   p = softmax(sigma * G)        q = softmax(sigma * G + noise * G')        G, G' standard normal, per token
//
// Cost: V Gaussians and exponentials per row.
struct GaussianLogits {
  static constexpr std::string_view name = "gaussian_logits";
  static constexpr std::string_view about =
      "softmax of Gaussian logits; the draft's are the target's plus Gaussian errors";

  double vocabulary = 1000, sigma = 2.5, noise = 0.8, drafts = 1;

  static constexpr auto parameters() {
    using enum ParameterKind;
    return std::array{
        Parameter<GaussianLogits>{"vocabulary", &GaussianLogits::vocabulary, 2, 1 << 20, "number of tokens", Whole},
        Parameter<GaussianLogits>{"sigma", &GaussianLogits::sigma, 0, 100,
                                  "standard deviation of the target's logits"},
        Parameter<GaussianLogits>{"noise", &GaussianLogits::noise, 0, 100,
                                  "standard deviation of the draft's errors"},
        Parameter<GaussianLogits>{"drafts", &GaussianLogits::drafts, 1, 64, "number of different draft models",
                                  Whole}};
  }

  RowPair pair(std::uint64_t seed, std::size_t position) const {
    std::vector<double> logits(static_cast<std::size_t>(vocabulary), 0.0);
    add_noise(logits, sigma, seed, position, 0);
    RowPair rows{filtered_softmax(logits, {}), {}};
    for (std::uint32_t d = 0; d < static_cast<std::uint32_t>(drafts); ++d) {
      std::vector<double> draft = logits;
      add_noise(draft, noise, seed, position, 1 + d);
      rows.proposals.push_back(filtered_softmax(draft, {}));
    }
    return rows;
  }

 private:
  static void add_noise(std::vector<double>& logits, double deviation, std::uint64_t seed, std::size_t position,
                        std::uint32_t stream) {
    PhiloxEngine random(seed, position, stream);
    boost::random::normal_distribution<double> gaussian;
    for (double& logit : logits) logit += deviation * gaussian(random);
  }
};

// Point masses, the distributions of greedy decoding. The target has its mass on a random token; the draft has its mass
// on the same token with probability `agreement`. In both, mass `leak` is spread evenly over all tokens instead.
struct OneHot {
  static constexpr std::string_view name = "one_hot";
  static constexpr std::string_view about =
      "greedy models: point masses that agree or not, with optional mass on all tokens";

  double vocabulary = 100, agreement = 0.5, leak = 0;

  static constexpr auto parameters() {
    using enum ParameterKind;
    return std::array{Parameter<OneHot>{"vocabulary", &OneHot::vocabulary, 2, 1 << 20, "number of tokens", Whole},
                      Parameter<OneHot>{"agreement", &OneHot::agreement, 0, 1,
                                        "probability that target and draft have their mass on the same token"},
                      Parameter<OneHot>{"leak", &OneHot::leak, 0, 1, "probability spread evenly over all tokens"}};
  }

  RowPair pair(std::uint64_t seed, std::size_t position) const {
    using Pick = boost::random::uniform_int_distribution<std::size_t>;
    PhiloxEngine random(seed, position, 0);
    const auto size = static_cast<std::size_t>(vocabulary);
    const std::size_t target = Pick(0, size - 1)(random);
    // Uniform over the tokens other than the target's.
    const std::size_t other = (target + 1 + Pick(0, size - 2)(random)) % size;
    const bool agree = boost::random::uniform_01<double>()(random) < agreement;
    return {peak(target), {peak(agree ? target : other)}};
  }

 private:
  std::vector<double> peak(std::size_t token) const {
    std::vector<double> distribution(static_cast<std::size_t>(vocabulary), leak / vocabulary);
    distribution[token] += 1 - leak;
    return distribution;
  }
};

// Uniform distributions on intervals of tokens. The results of a verifier on them can be computed by hand. Supports
// that overlap in part give zero probabilities on both sides.
//
//   p   uniform on tokens [0, target_support)
//   q   uniform on tokens [shift, shift + draft_support), which wraps at V
//
// A support of 0 is the whole vocabulary. Example: supports V and V/2 overlap by sum min(p, q) = 1/2.
struct Uniform {
  static constexpr std::string_view name = "uniform";
  static constexpr std::string_view about = "uniform distributions on overlapping intervals of tokens";

  double vocabulary = 1000, target_support = 0, draft_support = 500, shift = 0;

  static constexpr auto parameters() {
    using enum ParameterKind;
    return std::array{
        Parameter<Uniform>{"vocabulary", &Uniform::vocabulary, 1, 1 << 20, "number of tokens", Whole},
        Parameter<Uniform>{"target_support", &Uniform::target_support, 0, 1 << 20,
                           "number of tokens in the support; 0: all", Whole},
        Parameter<Uniform>{"draft_support", &Uniform::draft_support, 0, 1 << 20,
                           "number of tokens in the support; 0: all", Whole},
        Parameter<Uniform>{"shift", &Uniform::shift, 0, 1 << 20, "first token of the draft's support", Whole}};
  }

  RowPair pair(std::uint64_t, std::size_t) const {
    return {on_interval(target_support, 0), {on_interval(draft_support, shift)}};
  }

 private:
  std::vector<double> on_interval(double support, double first) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    const std::size_t count = support == 0 ? size : std::min(size, static_cast<std::size_t>(support));
    std::vector<double> distribution(size, 0.0);
    for (std::size_t k = 0; k < count; ++k)
      distribution[(static_cast<std::size_t>(first) + k) % size] = 1 / static_cast<double>(count);
    return distribution;
  }
};

// Zipf distributions, the shape of word frequencies: the token of rank r has weight (r + offset)^-exponent. The draft
// has a separate exponent, its ranks may be shifted, and each of its weights may have a random factor.
//
//   p(x) ~ (rank(x) + offset)^-exponent
//   q(x) ~ (rank(x) shifted + offset)^-draft_exponent * exp(noise * Gaussian)
//
// Cost: V powers per row. Without noise and shuffle all positions are equal.
struct Zipf {
  static constexpr std::string_view name = "zipf";
  static constexpr std::string_view about =
      "Zipf distributions with different exponents, ranks shifted or noisy in the draft";

  double vocabulary = 1000, exponent = 1.2, draft_exponent = 1.0, shift = 0, noise = 0.5, shuffle = 0, offset = 0,
         drafts = 1;

  static constexpr auto parameters() {
    using enum ParameterKind;
    return std::array{
        Parameter<Zipf>{"vocabulary", &Zipf::vocabulary, 2, 1 << 20, "number of tokens", Whole},
        Parameter<Zipf>{"exponent", &Zipf::exponent, 0, 20, "Zipf exponent of the target; 0: uniform"},
        Parameter<Zipf>{"draft_exponent", &Zipf::draft_exponent, 0, 20, "Zipf exponent of the draft"},
        Parameter<Zipf>{"shift", &Zipf::shift, 0, 1 << 20, "number of ranks by which the draft's ranks are rotated",
                        Whole},
        Parameter<Zipf>{"noise", &Zipf::noise, 0, 20, "standard deviation of the noise on the draft's log-weights"},
        Parameter<Zipf>{"shuffle", &Zipf::shuffle, 0, 1, "1: tokens in random order, the same in target and draft",
                        Whole},
        Parameter<Zipf>{"offset", &Zipf::offset, 0, 1e6, "added to every rank: flattens the head"},
        Parameter<Zipf>{"drafts", &Zipf::drafts, 1, 64, "number of different draft models", Whole}};
  }

  RowPair pair(std::uint64_t seed, std::size_t position) const {
    const auto size = static_cast<std::size_t>(vocabulary);
    const std::vector<std::size_t> tokens = order(seed, position);
    const auto distribution = [&](double power, std::size_t rotation, double deviation, std::uint32_t stream) {
      PhiloxEngine random(seed, position, stream);
      boost::random::normal_distribution<double> gaussian;
      std::vector<double> logits(size);
      for (std::size_t rank = 0; rank < size; ++rank) {
        const double place = static_cast<double>((rank + rotation) % size + 1) + offset;
        logits[tokens[rank]] = -power * std::log(place) + (deviation > 0 ? deviation * gaussian(random) : 0);
      }
      return filtered_softmax(logits, {});
    };
    RowPair rows{distribution(exponent, 0, 0, 1), {}};
    for (std::uint32_t d = 0; d < static_cast<std::uint32_t>(drafts); ++d)
      rows.proposals.push_back(distribution(draft_exponent, static_cast<std::size_t>(shift), noise, 2 + d));
    return rows;
  }

 private:
  /// Returns the token of each rank.
  std::vector<std::size_t> order(std::uint64_t seed, std::size_t position) const {
    std::vector<std::size_t> tokens(static_cast<std::size_t>(vocabulary));
    std::iota(tokens.begin(), tokens.end(), std::size_t{0});
    if (shuffle == 0) return tokens;
    PhiloxEngine random(seed, position, 0);
    for (std::size_t last = tokens.size() - 1; last > 0; --last)
      std::swap(tokens[last], tokens[boost::random::uniform_int_distribution<std::size_t>(0, last)(random)]);
    return tokens;
  }
};

}  // namespace draftproof::families
