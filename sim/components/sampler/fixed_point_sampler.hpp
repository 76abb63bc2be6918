// Draws by running sums in 64-bit fixed point, two passes over fresh weights: the sampler of corrections on fresh
// rows.
//
// Symbols and cost: sim/numeric/fixed_point.hpp.
// Correctness: terms are truncated to multiples of 2^-60, V 2^-60 in all, and edges fall on the grid of 2^-64: below
// 1e-12 at V = 2^18.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/normalised_row.hpp>
#include <draftproof/sim/sampling/fixed_point_weights.hpp>

namespace draftproof::components::sampler {

struct FixedPointSampler {
  static constexpr ComponentInfo info{.name = "fixed_point_sampler",
                                      .summary = "running sums in 64-bit fixed point",
                                      .source = "sim/numeric/fixed_point.hpp",
                                      .budget = 1e-12};

  class Table {
   public:
    explicit Table(std::span<const double> row) : row_{normalised_row(row)} {}
    Token draw(std::uint64_t word) const {
      const auto weight = [this](Token x) { return row_[static_cast<std::size_t>(x)]; };
      return FixedWeights(static_cast<int>(row_.size()), weight).draw(word);
    }
    /// Token x has the words w with F(x - 1) <= floor(w total / 2^64) < F(x), F the running sum in fixed point.
    template <class Visit>
    void pieces(Visit visit) const {
      __extension__ using Wide = unsigned __int128;
      Fixed total = 0, below = 0;
      for (const double weight : row_) total += to_fixed(weight);
      const auto whole = static_cast<Wide>(total);
      for (std::size_t x = 0; x < row_.size(); ++x) {
        const Fixed mass = to_fixed(row_[x]);
        if (mass > 0)
          visit(static_cast<std::uint64_t>(((static_cast<Wide>(below) << 64) + whole - 1) / whole),
                static_cast<Token>(x));
        below += mass;
      }
    }

   private:
    std::vector<double> row_;
  };

  Table prepare(std::span<double> row) const { return Table(row); }
};

}  // namespace draftproof::components::sampler
