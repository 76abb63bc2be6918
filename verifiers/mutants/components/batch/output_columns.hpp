// Mutants of batch runners: wrong columns, padding or ends of outputs. `Hidden` says where a bug does not show.
#pragma once

#include <draftproof/sim/components/chain_steps.hpp>
#include <draftproof/sim/components/component_info.hpp>

namespace draftproof::mutants::components::batch {

// Mutant: makes one flip more than it declares before the last token of a step. Every distribution is right.
//
// sim/components/chain_steps.hpp describes steps, symbols and cost.
// Source: derived here, after samplers that draw for an option that is off.
// Error: where random numbers are consumed in order, a run that should repeat an earlier run no longer does.
// Hidden: in all checks that do not count random numbers.
struct CoinBesideLastDraw : ChainSteps {
  static constexpr ComponentInfo info{.name = "coin_beside_last_draw",
                                      .summary = "an unused random number is drawn before the last token",
                                      .source = "derived here"};

  template <class F, class Source>
  Token extra(int vocabulary, const F& weight, ChainScratch& scratch, Source& random) const {
    random.flip(1.0, 2.0);
    return ChainSteps::extra(vocabulary, weight, scratch, random);
  }
};

// Mutant: tests all L columns of the padded drafts. The padding of a short row, id -1, indexes the last entry of a
// distribution and can be accepted.
//
//   L        longest      columns of the padded drafts
//
// sim/components/chain_steps.hpp describes the other symbols and the cost. The index wraps as in array libraries, so
// the read stays inside the row.
// Source: flashinfer-ai/flashinfer#879.
// Hidden: while all rows are full.
struct PadIdTested : ChainSteps {
  static constexpr ComponentInfo info{
      .name = "pad_id_tested",
      .summary = "padding after the drafts is tested too; id -1 indexes the last entry",
      .source = "flashinfer-ai/flashinfer#879"};

  int tested(const RaggedBatch& batch, int slot) const { return batch.length[slot] > 0 ? batch.longest : 0; }
  Token entry(Token x, int vocabulary) const {
    return x == pad_id ? vocabulary - 1 : ChainSteps::entry(x, vocabulary);
  }
};

// Mutant: lanes beyond V in the last tile keep ids from V on and the weights of the previous tile. These ids can be
// drawn, and one of them wins if no weight is positive.
//
//   T        tile         lanes of a tile
//
// sim/components/chain_steps.hpp describes the other symbols and the cost.
// Source: flashinfer-ai/flashinfer#3624.
// Hidden: while V is a multiple of the tile.
// Smallest: V = T + 1.

struct PaddingLanesWin : ChainSteps {
  static constexpr ComponentInfo info{.name = "padding_lanes_win",
                                      .summary = "lanes beyond V take part with stale values of the previous tile",
                                      .source = "flashinfer-ai/flashinfer#3624"};

  static constexpr int tile = 2;

  bool sound(const MaskedRow&) const { return true; }

  template <class F, class Source>
  Token extra(int vocabulary, const F& weight, ChainScratch&, Source& random) const {
    const int lanes = (vocabulary + tile - 1) / tile * tile;
    const auto lane = [=](Token x) {
      if (x < vocabulary) return weight(x);
      return x >= tile ? weight(x - tile) : 0.0;
    };
    double total = 0;
    for (Token x = 0; x < lanes; ++x) total += lane(x);
    if (!(total > 0)) return lanes - 1;
    return random.pick(ScaledWeights(lanes, lane));
  }
};

// Mutant: cuts the accepted path one position too early. Where a stop token or a limit cuts, the last kept token is
// lost.
//
// sim/components/chain_steps.hpp describes steps, symbols and cost.
// Source: PaddlePaddle/FastDeploy#7121.
// Hidden: where nothing is cut.
struct PathCutEarly : ChainSteps {
  static constexpr ComponentInfo info{.name = "path_cut_early",
                                      .summary = "the stop token, or the last token within the limit, is lost",
                                      .source = "PaddlePaddle/FastDeploy#7121"};

  int kept(const BatchRequest& request, const Token* tokens, int count) const {
    const int kept = ChainSteps::kept(request, tokens, count);
    return kept < count ? kept - 1 : kept;
  }
};

// Mutant: cuts the accepted path one position too late at a stop token or a length limit, so that one token more is
// emitted.
//
// sim/components/chain_steps.hpp describes steps, symbols and cost.
// Source: PaddlePaddle/FastDeploy#7121.
// Hidden: where a step ends with its stop token anyway.
struct PathCutLate : ChainSteps {
  static constexpr ComponentInfo info{.name = "path_cut_late",
                                      .summary = "one token after the stop token or the limit is kept",
                                      .source = "PaddlePaddle/FastDeploy#7121"};

  int kept(const BatchRequest& request, const Token* tokens, int count) const {
    return std::min(ChainSteps::kept(request, tokens, count) + 1, count);
  }
};

// Mutant: writes each corrected token not only at the column at which its row rejected a draft, but also at the columns
// at which other rows did, because the expression tensor[rows][:, columns] selects all pairs of a row and a column. The
// additional writes overwrite accepted tokens.
//
// sim/components/chain_steps.hpp describes steps, symbols and cost.
// Source: Dao-AILab/flash-attention#2779.
// Hidden: if all rows reject at the same position.
struct RejectionWriteToOtherRow : ChainSteps {
  static constexpr ComponentInfo info{.name = "rejection_write_to_other_row",
                                      .summary = "correction tokens are written at the rejected columns of all rows",
                                      .source = "Dao-AILab/flash-attention#2779"};

  void write(const RaggedBatch& batch, const std::vector<ChainResult>& results, std::vector<Token>& tokens) const {
    ChainSteps::write(batch, results, tokens);
    const auto columns = static_cast<std::size_t>(batch.longest) + 1;
    const auto refuses = [&](std::size_t s) { return !results[s].refused && results[s].accepted < batch.length[s]; };
    for (std::size_t row = 0; row < results.size(); ++row)
      for (std::size_t other = 0; other < results.size(); ++other)
        if (refuses(row) && refuses(other))
          tokens[row * columns + static_cast<std::size_t>(results[other].accepted)] = results[row].extra;
  }
};

// Mutant: reads the sum of a residual before this row's partial sums are added. From the second refusal of a batch
// on, the draw is scaled by the residual sum of the first refusal.
//
//   S        scratch.residual_sum      sum stored by the first draw
//
// sim/components/chain_steps.hpp describes the other symbols and the cost.
// Source: flashinfer-ai/flashinfer#424, here written as a sequential program.
// Error: with a scale that is too small, the last tokens are drawn too rarely or never; with a scale that is too large,
// the last token with weight gets the difference.
// Hidden: in batches of one.

struct StaleBlockSum : ChainSteps {
  static constexpr ComponentInfo info{.name = "stale_block_sum",
                                      .summary = "every row that refuses uses the residual sum of the first such row",
                                      .source = "flashinfer-ai/flashinfer#424"};

  template <class F, class Source>
  Token extra(int vocabulary, const F& weight, ChainScratch& scratch, Source& random) const {
    double total = 0;
    Token last = no_token;
    for (Token x = 0; x < vocabulary; ++x)
      if (const double w = weight(x); w > 0) {
        total += w;
        last = x;
      }
    if (scratch.residual_sum < 0) scratch.residual_sum = total;
    const double sum = scratch.residual_sum;
    const auto scanned = [=](Token x) {
      double before = 0;
      for (Token y = 0; y < x; ++y) before += weight(y);
      const double end = x == last ? sum : std::min(before + weight(x), sum);
      return std::max(end - before, 0.0);
    };
    return random.pick(ScaledWeights(vocabulary, scanned));
  }
};

}  // namespace draftproof::mutants::components::batch
