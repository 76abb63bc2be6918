// A user-defined batch runner: a function of whole batches that uses no function of draftproof's runner.
#pragma once

#include <algorithm>
#include <vector>

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/ragged_batch.hpp>
#include <draftproof/sim/components/target_filters.hpp>

namespace mine {

using namespace draftproof;

struct RowByRow {
  static constexpr ComponentInfo info{
      .name = "row_by_row", .summary = "a loop over the requests of a batch", .source = "a test"};

  template <class Random>
  BatchOutput verify(const RaggedBatch& batch, Random& random) {
    BatchOutput output;
    for (int s = 0; s < batch.slots; ++s) {
      std::vector<Token> tokens;
      int accepted = 0;
      const bool sound = verify_one(batch, s, random, tokens, accepted);
      const int kept = sound ? batch.request[s].kept(tokens.data(), static_cast<int>(tokens.size())) : 0;
      tokens.resize(static_cast<std::size_t>(kept));
      output.emitted.push_back(tokens);
      output.accepted.push_back(std::min(accepted, kept));
      output.refused.push_back(!sound);
    }
    return output;
  }

 private:
  /// Verifies request s and appends its tokens to `tokens`. Returns false if a row is not a distribution, or if a draft
  /// is no token or has proposal probability 0.
  template <class Random>
  static bool verify_one(const RaggedBatch& batch, int s, Random& random, std::vector<Token>& tokens, int& accepted) {
    for (int i = 0; i <= batch.length[s]; ++i) {
      const std::int64_t row = batch.target_row(s) + i;
      const MaskedRow p(batch.target + row * batch.pitch, batch.mask ? batch.mask + row * batch.vocabulary : nullptr,
                        batch.vocabulary);
      if (!p.sound()) return false;
      auto words = random.at(batch.address(s, i));
      if (i == batch.length[s]) {
        tokens.push_back(words.pick(ScaledWeights(batch.vocabulary, p)));
        return true;
      }
      const MaskedRow q(batch.proposal + (batch.proposal_row(s) + i) * batch.pitch, nullptr, batch.vocabulary);
      const Token x = batch.drafts[s * batch.longest + i];
      if (!q.sound() || x < 0 || x >= batch.vocabulary || !(q(x) > 0)) return false;
      // Rows are weights with sums P and Q; the test compares p(x) / P with q(x) / Q without a division.
      const double of_p = p.total(), of_q = q.total();
      if (words.flip(p(x) * of_q, q(x) * of_p)) {
        tokens.push_back(x);
        ++accepted;
        continue;
      }
      const auto residual = [&](Token y) { return std::max(p(y) * of_q - q(y) * of_p, 0.0); };
      tokens.push_back(words.pick(ScaledWeights(batch.vocabulary, residual)));
      return true;
    }
    return true;
  }
};

}  // namespace mine
