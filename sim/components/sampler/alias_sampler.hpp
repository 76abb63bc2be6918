// Draws by the alias table: the sampler of i.i.d. drafts and of the target in simulations.
//
// Symbols and cost: sim/sampling/alias_table.hpp.
// Correctness: the row is quantised to multiples of 2^-62, and each of V cells has two edges on the grid of 2^-64, so
// the error is V 2^-62 + V 2^-64 < 1e-12. The words of a cell are one interval of its own token, then one of the
// other token; bisection finds the edge.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/first_word.hpp>
#include <draftproof/sim/components/normalised_row.hpp>
#include <draftproof/sim/sampling/alias_table.hpp>

namespace draftproof::components::sampler {

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
        const std::uint64_t first = start(cell), last = start(cell + 1) - 1;  // 0 - 1 is the last word
        const Token own = draw(first);
        visit(first, own);
        const auto other = first_word([&](std::uint64_t word) { return draw(word) != own; }, first, last);
        if (other) visit(*other, draw(*other));
      }
    }

   private:
    /// First word w with floor(w V / 2^64) = cell; 2^64 wraps to 0.
    std::uint64_t start(std::uint64_t cell) const {
      __extension__ using Wide = unsigned __int128;
      return static_cast<std::uint64_t>(((Wide{cell} << 64) + size_ - 1) / size_);
    }

    std::size_t size_;
    AliasTable table_;
  };

  Table prepare(std::span<double> row) const { return Table(row); }
};

}  // namespace draftproof::components::sampler
