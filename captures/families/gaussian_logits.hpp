// Softmax of Gaussian logits. The draft's logits are the target's plus Gaussian errors, as for an imperfect copy of a
// model.
//
//   p = softmax(sigma * G)        q = softmax(sigma * G + noise * G')        G, G' standard normal, per token
//
// Cost: V Gaussians and exponentials a row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/random/normal_distribution.hpp>

#include <draftproof/captures/family.hpp>
#include <draftproof/captures/filter.hpp>
#include <draftproof/captures/philox_engine.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof::families {

struct GaussianLogits {
  static constexpr std::string_view name = "gaussian_logits";
  static constexpr std::string_view about =
      "softmax of Gaussian logits; the draft's are the target's plus Gaussian errors";

  double vocabulary = 1000, sigma = 2.5, noise = 0.8, drafts = 1;

  static constexpr auto parameters() {
    using enum ParameterKind;
    return std::array{
        Parameter<GaussianLogits>{"vocabulary", &GaussianLogits::vocabulary, 2, 1 << 20, "tokens", Whole},
        Parameter<GaussianLogits>{"sigma", &GaussianLogits::sigma, 0, 100, "deviation of the target's logits"},
        Parameter<GaussianLogits>{"noise", &GaussianLogits::noise, 0, 100, "deviation of the draft's errors"},
        Parameter<GaussianLogits>{"drafts", &GaussianLogits::drafts, 1, 64, "different drafts", Whole}};
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

}  // namespace draftproof::families
