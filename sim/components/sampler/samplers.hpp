// Samplers of a token by its weight.
#pragma once

#include <span>

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/inverse_cdf.hpp>
#include <draftproof/sim/components/target_filters.hpp>
#include <draftproof/sim/sampling/alias_table.hpp>
#include <draftproof/sim/sampling/exponential_race.hpp>
#include <draftproof/sim/sampling/guide_table.hpp>
#include <draftproof/sim/sampling/weights.hpp>

namespace draftproof::components::sampler {

// Draws by the alias table. Simulations draw i.i.d. drafts and the target's tokens with this sampler.
//
// The symbols and the cost are described in sim/sampling/alias_table.hpp.
// Correctness: the row is quantised to multiples of 2^-62, and each of V cells has two edges on the grid of 2^-64, so
// the error is V 2^-62 + V 2^-64 < 1e-12. The 64-bit values that select a cell are an interval, whose first part gives
// one of the cell's two tokens and whose second part gives the other; pieces() finds the boundary by bisection.
struct AliasSampler {
  static constexpr ComponentInfo info{.name = "alias_sampler",
                                      .summary = "alias table in integers",
                                      .source = "sim/sampling/alias_table.hpp",
                                      .budget = 1e-12};

  class Table {
   public:
    explicit Table(std::span<const double> row) : size_{row.size()}, table_{quantise(normalised_row(row))} {}
    Token draw(std::uint64_t word) const { return table_.draw(word); }
    template <class Visit>
    void pieces(Visit visit) const {
      for (std::uint64_t cell = 0; cell < size_; ++cell) {
        const std::uint64_t first = start(cell), last = start(cell + 1) - 1;  // 0 - 1 wraps to 2^64 - 1
        const Token own = draw(first);
        visit(first, own);
        const auto other = first_word([&](std::uint64_t word) { return draw(word) != own; }, first, last);
        if (other) visit(*other, draw(*other));
      }
    }

   private:
    /// Returns the least w with floor(w V / 2^64) = cell; for cell V it is 2^64, which wraps to 0.
    std::uint64_t start(std::uint64_t cell) const {
      __extension__ using Wide = unsigned __int128;
      return static_cast<std::uint64_t>(((Wide{cell} << 64) + size_ - 1) / size_);
    }

    std::size_t size_;
    AliasTable table_;
  };

  Table prepare(std::span<double> row) const { return Table(row); }
};

// Draws by integer cumulative sums with a guide table. Drafts without replacement are drawn with this sampler.
//
// The symbols and the cost are described in sim/sampling/guide_table.hpp.
// Correctness: the row is quantised to multiples of 2^-62, and edges are integers of 64 bits, so the error is at most V
// 2^-62 < 1e-12.
struct CumulativeSampler {
  static constexpr ComponentInfo info{.name = "cumulative_sampler",
                                      .summary = "integer cumulative sums with a guide table",
                                      .source = "sim/sampling/guide_table.hpp",
                                      .budget = 1e-12};

  class Table {
   public:
    explicit Table(std::span<const double> row) : size_{row.size()}, table_{quantise(normalised_row(row))} {}
    Token draw(std::uint64_t word) const { return table_.draw_without(nullptr, 0, word); }
    template <class Visit>
    void pieces(Visit visit) const {
      std::uint64_t below = 0;
      for (std::size_t x = 0; x < size_; ++x) {
        const std::uint64_t mass = table_.mass(static_cast<Token>(x));
        if (mass > 0) visit(below << 2, static_cast<Token>(x));
        below += mass;
      }
    }

   private:
    std::size_t size_;
    CumulativeTable table_;
  };

  Table prepare(std::span<double> row) const { return Table(row); }
};

// Draws by running sums in 64-bit fixed point, in two passes over the weights. Corrections on rows that are not
// prepared are drawn with this sampler.
//
// The symbols and the cost are described at FixedWeights in sim/sampling/weights.hpp.
// Correctness: terms are truncated to multiples of 2^-60, V 2^-60 in all, and edges fall on the grid of 2^-64, so the
// error is below 1e-12 at V = 2^18.
struct FixedPointSampler {
  static constexpr ComponentInfo info{.name = "fixed_point_sampler",
                                      .summary = "running sums in 64-bit fixed point",
                                      .source = "sim/numeric/exp.hpp",
                                      .budget = 1e-12};

  class Table {
   public:
    explicit Table(std::span<const double> row) : row_{normalised_row(row)} {}
    Token draw(std::uint64_t word) const {
      const auto weight = [this](Token x) { return row_[static_cast<std::size_t>(x)]; };
      return FixedWeights(static_cast<int>(row_.size()), weight).draw(word);
    }
    /// Token x has the random bits w with F(x - 1) <= floor(w total / 2^64) < F(x), F the running sum in fixed point.
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

// The textbook sampler in double, with running sums and 53-bit uniforms. A uniform past the last sum gives the last
// token of positive weight.
//
// The symbols and the cost are described in sim/components/inverse_cdf.hpp.
// Correctness: a sum of V doubles is off by V 2^-53 at most, and a 53-bit uniform moves each of V edges by 2^-53, so
// the error is at most 2 V 2^-54 + V 2^-54 < 1e-10 at V = 2^18.
// Source: folklore.
struct InverseCdfSampler : InverseCdfSteps {
  static constexpr ComponentInfo info{.name = "inverse_cdf_sampler",
                                      .summary = "running sums in double, 53-bit uniforms",
                                      .source = "folklore",
                                      .budget = 1e-10};

  auto prepare(std::span<double> row) const { return InverseCdfTable<InverseCdfSampler>(row); }
};

// Draws by a race of exponential clocks, one for each token. Couplings and the Gumbel trick use this sampler.
//
//   E        clock(word)     exponential from 64 random bits (sim/numeric/exp.hpp), never 0
//   w        row[x]          weight of token x, which arrives at E / w
//
// Cost: V clocks for each draw.
// Correctness: the first of independent exponential clocks of rates w is x with probability w(x) / sum w; a token of
// weight 0 never arrives.
// Source: folklore.

struct RaceSampler {
  static constexpr ComponentInfo info{
      .name = "race_sampler",
      .summary = "the token whose exponential clock, divided by its weight, is smallest",
      .source = "sim/sampling/exponential_race.hpp"};

  static double clock(std::uint64_t word) { return exponential(word); }

  template <class Noise>
  Token draw(std::span<double> row, Noise& noise) const {
    Candidate first;
    for (std::size_t x = 0; x < row.size(); ++x) {
      const double time = clock(noise());
      const Candidate arrival{time / row[x], static_cast<Token>(x)};
      if (row[x] > 0 && arrival.before(first)) first = arrival;
    }
    return first.token;
  }
};

}  // namespace draftproof::components::sampler
