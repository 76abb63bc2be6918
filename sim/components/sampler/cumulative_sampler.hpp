// Draws by integer cumulative sums with a guide table: the sampler of drafts without replacement.
//
// Symbols and cost: sim/sampling/cumulative_table.hpp.
// Correctness: the row is quantised to multiples of 2^-62, and edges are words exactly: V 2^-62 < 1e-12.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/normalised_row.hpp>
#include <draftproof/sim/sampling/cumulative_table.hpp>

namespace draftproof::components::sampler {

struct CumulativeSampler {
  static constexpr ComponentInfo info{.name = "cumulative_sampler",
                                      .summary = "integer cumulative sums with a guide table",
                                      .source = "sim/sampling/cumulative_table.hpp",
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

}  // namespace draftproof::components::sampler
