// Token verification of a ragged batch, split into the steps in which engines have bugs. A runner is a struct of
// these steps; a mutant is a runner that replaces one step by a wrong step.
//
//   p, q        MaskedRow       target and proposal weights of one draft position
//   P, Q        total()         sums of p and q: accept if u q(x) P < p(x) Q, else draw from (p Q - q P)+
//   L           longest         columns of the padded drafts
//
// Cost: three passes over V for each draft, one more at the first rejection.
// Correctness: no request reads the rows or the random bits of another request.
// Source: Leviathan et al. 2023, arXiv:2211.17192; engines use the packed layout.
#pragma once

#include <algorithm>
#include <cstddef>

#include <draftproof/sim/components/ragged_batch.hpp>
#include <draftproof/sim/components/target_filters.hpp>

namespace draftproof {

/// The result of verifying one slot, before anything is written.
struct ChainResult {
  int accepted = 0;
  Token extra = no_token;  ///< correction or bonus
  bool refused = false;
};

/// State that a runner keeps from one slot of a batch to the next.
struct ChainScratch {
  double residual_sum = -1;  ///< sum of the residual at the batch's first rejection; negative: no rejection yet
};

/// Number of random decisions of a request in a call.
struct ChainDraws {
  int flips, picks;
  bool operator==(const ChainDraws&) const = default;
};

/// The correct implementation of every step of a batch runner. A runner may derive from this struct and replace steps.
/// One object serves many calls, so `mutable` members of a derived struct keep their values from call to call.
struct ChainSteps {
  /// Returns the declared number of random decisions of a request with `drafts` drafts, the first `accepted` of which
  /// are accepted: a flip for every test, and a pick of the last token.
  static constexpr ChainDraws declared_draws(int drafts, int accepted) { return {std::min(accepted + 1, drafts), 1}; }

  /// Returns the index of the first target row of a slot; the mask rows of the slot have the same indices.
  std::int64_t target_row(const RaggedBatch& batch, int slot) const { return batch.target_row(slot); }
  std::int64_t mask_row(const RaggedBatch& batch, int slot, const std::vector<ChainResult>&) const {
    return target_row(batch, slot);
  }
  std::int64_t proposal_row(const RaggedBatch& batch, int slot) const { return batch.proposal_row(slot); }
  /// Returns the offset of a row in elements.
  std::int64_t offset(std::int64_t row, std::int64_t pitch) const { return row * pitch; }

  /// Returns the address of the random bits for decision i of a slot.
  StreamAddress address(const RaggedBatch& batch, int slot, int i) const { return batch.address(slot, i); }
  /// Returns the number of draft positions to test.
  int tested(const RaggedBatch& batch, int slot) const { return batch.length[slot]; }
  /// Returns the index of a draft id in a row, no_token if the id is outside the vocabulary.
  Token entry(Token x, int vocabulary) const { return x >= 0 && x < vocabulary ? x : no_token; }
  /// Whether the row is a distribution up to a factor.
  bool sound(const MaskedRow& row) const { return row.sound(); }

  /// Draws the token after the accepted drafts, from weights that are not all zero.
  template <class F, class Source>
  Token extra(int vocabulary, const F& weight, ChainScratch&, Source& random) const {
    return random.pick(ScaledWeights<F>(vocabulary, weight));
  }

  /// Writes the tokens of all slots, [slots, L + 1].
  void write(const RaggedBatch& batch, const std::vector<ChainResult>& results, std::vector<Token>& tokens) const {
    const auto columns = static_cast<std::size_t>(batch.longest) + 1;
    for (std::size_t s = 0; s < results.size(); ++s) {
      for (int i = 0; i < results[s].accepted; ++i)
        tokens[s * columns + static_cast<std::size_t>(i)] =
            batch.drafts[s * (columns - 1) + static_cast<std::size_t>(i)];
      tokens[s * columns + static_cast<std::size_t>(results[s].accepted)] = results[s].extra;
    }
  }
  /// Returns how many of `count` tokens a request keeps.
  int kept(const BatchRequest& request, const Token* tokens, int count) const { return request.kept(tokens, count); }
};

/// The steps of a runner: a struct derived from ChainSteps, which may replace functions by functions of the same type.
template <class S, class Source>
concept BatchSteps = std::derived_from<S, ChainSteps> && std::is_default_constructible_v<S> &&
    requires(const S& steps, const RaggedBatch& batch, const BatchRequest& request, const MaskedRow& row,
             const std::vector<ChainResult>& results, std::vector<Token>& tokens, std::int64_t n,
             double (*weight)(Token), ChainScratch& scratch, Source& random) {
  { S::declared_draws(1, 1) } -> std::same_as<ChainDraws>;
  { steps.target_row(batch, 0) } -> std::convertible_to<std::int64_t>;
  { steps.mask_row(batch, 0, results) } -> std::convertible_to<std::int64_t>;
  { steps.proposal_row(batch, 0) } -> std::convertible_to<std::int64_t>;
  { steps.offset(n, n) } -> std::convertible_to<std::int64_t>;
  { steps.address(batch, 0, 0) } -> std::same_as<StreamAddress>;
  { steps.tested(batch, 0) } -> std::same_as<int>;
  { steps.entry(Token{}, 1) } -> std::same_as<Token>;
  { steps.sound(row) } -> std::same_as<bool>;
  steps.write(batch, results, tokens);
  { steps.kept(request, tokens.data(), 1) } -> std::same_as<int>;
};

/// Verifies slot by slot. `streams.at(address)` returns the source of one decision.
template <class Steps, class Streams>
class ChainRun {
 public:
  ChainRun(const Steps& steps, const RaggedBatch& batch, Streams& streams)
      : steps_{steps}, batch_{batch}, streams_{streams} {}

  /// Returns the output of the batch.
  BatchOutput run() {
    for (int s = 0; s < batch_.slots; ++s) results_.push_back(verify(s));
    const auto columns = static_cast<std::size_t>(batch_.longest) + 1;
    std::vector<Token> tokens(results_.size() * columns, pad_id);
    steps_.write(batch_, results_, tokens);
    BatchOutput output;
    for (std::size_t s = 0; s < results_.size(); ++s) {
      const ChainResult& result = results_[s];
      const Token* own = tokens.data() + s * columns;
      const int kept = result.refused ? 0 : steps_.kept(batch_.request[s], own, result.accepted + 1);
      output.emitted.emplace_back(own, own + kept);
      output.accepted.push_back(std::min(result.accepted, kept));
      output.refused.push_back(result.refused);
    }
    return output;
  }

 private:
  MaskedRow target(int slot, int i) const {
    const std::uint8_t* mask = batch_.mask;
    if (mask) mask += (steps_.mask_row(batch_, slot, results_) + i) * batch_.vocabulary;
    return {batch_.target + steps_.offset(steps_.target_row(batch_, slot) + i, batch_.pitch), mask,
            batch_.vocabulary};
  }
  MaskedRow proposal(int slot, int i) const {
    return {batch_.proposal + steps_.offset(steps_.proposal_row(batch_, slot) + i, batch_.pitch), nullptr,
            batch_.vocabulary};
  }

  ChainResult verify(int slot) {
    static constexpr ChainResult refusal{.refused = true};
    const int length = batch_.length[slot];
    for (int i = 0; i < steps_.tested(batch_, slot); ++i) {
      // The bound is for mutants, which may test more positions than there are drafts.
      const MaskedRow p = target(slot, std::min(i, length)), q = proposal(slot, std::min(i, length - 1));
      if (!steps_.sound(p) || !steps_.sound(q)) return refusal;
      const Token id = batch_.drafts[slot * batch_.longest + i], x = steps_.entry(id, batch_.vocabulary);
      if (x == no_token || !(q(x) > 0)) return refusal;
      const double of_p = p.total(), of_q = q.total();
      auto random = streams_.at(steps_.address(batch_, slot, i));
      if (random.flip(p(x) * of_q, q(x) * of_p)) continue;
      const auto residual = [=](Token y) { return std::max(p(y) * of_q - q(y) * of_p, 0.0); };
      return {i, steps_.extra(batch_.vocabulary, residual, scratch_, random)};
    }
    const MaskedRow p = target(slot, length);
    if (!steps_.sound(p)) return refusal;
    auto random = streams_.at(steps_.address(batch_, slot, length));
    return {steps_.tested(batch_, slot), steps_.extra(batch_.vocabulary, p, scratch_, random)};
  }

  const Steps& steps_;
  const RaggedBatch& batch_;
  Streams& streams_;
  ChainScratch scratch_{};
  std::vector<ChainResult> results_;
};

}  // namespace draftproof
