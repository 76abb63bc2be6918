// Dirichlet laws: every law on the simplex can occur, sparse ones for a small concentration. The draft is drawn
// around the target, so that one number sets their distance.
//
//   p ~ Dirichlet(concentration, ..., concentration)        q ~ Dirichlet(closeness * p)
//
// closeness 0 draws q like p and independently of it.
//
// Cost: V gamma variates a row.
//
// Source: the small-shape form Gamma(a) = Gamma(a + 1) U^(1/a), Devroye 1986, in logarithms so that nothing
// underflows.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <boost/random/gamma_distribution.hpp>
#include <boost/random/uniform_01.hpp>

#include <draftproof/captures/family.hpp>
#include <draftproof/captures/filter.hpp>
#include <draftproof/captures/philox_engine.hpp>
#include <draftproof/captures/row.hpp>

namespace draftproof::families {

struct Dirichlet {
  static constexpr std::string_view name = "dirichlet";
  static constexpr std::string_view about = "random laws of any sparsity, the draft drawn around the target";

  double vocabulary = 1000, concentration = 0.1, closeness = 100, drafts = 1;

  static constexpr auto parameters() {
    using enum ParameterKind;
    return std::array{
        Parameter<Dirichlet>{"vocabulary", &Dirichlet::vocabulary, 2, 1 << 20, "tokens", Whole},
        Parameter<Dirichlet>{"concentration", &Dirichlet::concentration, 1e-6, 1e6, "per token; below 1 is sparse"},
        Parameter<Dirichlet>{"closeness", &Dirichlet::closeness, 0, 1e9,
                             "of the draft to the target; 0 is independent"},
        Parameter<Dirichlet>{"drafts", &Dirichlet::drafts, 1, 64, "different drafts", Whole}};
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

}  // namespace draftproof::families
