// A whole engine that can only generate text: two Markov tables replace its models, and the transitions of the text
// are tested against the target's. Every token of a lossless engine has distribution p(. | previous token), whatever
// came before.
//
//   s          the last n tokens, n = 1, 2, 3
//   bet        each token is predicted by (c p(x | last) + count(s, x)) / (c + count(s)), c = 10^0 .. 10^6
//   e          the mean over n and c of the product over tokens of prediction / p(x | last)
//
// Correctness: given the past each factor has mean 1 under p, so e is a test martingale: it ever reaches 1 / alpha
// with probability at most alpha (Ville), for any length of the text and any dependence. Contexts of two and three
// tokens see faults that follow from an engine's blocks. A token with p = 0 is a proof.
//
// The engine generates several texts, the first of 1024 tokens and each further one as long as all texts before it,
// so that a text that takes too long leaves earlier results. Each text has a separate seed and starts after token 0;
// counts continue from one text to the next. A lossless engine draws a text from p whatever the earlier texts were,
// so each factor has mean 1 given all earlier tokens, also of other texts: the product over the texts is one
// martingale.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <draftproof/adapters/wire/served.hpp>
#include <draftproof/properties/proof/finding.hpp>

namespace draftproof::adapters {

struct TextEvidence {
  double log_e = 0;
  std::string worst{};  ///< the transition that departs most, in words
};

/// The evidence of texts against `target`, [V, V]: row t is the distribution after token t. Each text starts after
/// token 0.
/// Cost: V^3 counts, and 21 logarithms a token.
TextEvidence evidence_of_texts(std::span<const std::vector<std::int32_t>> texts, std::span<const double> target,
                               int vocabulary);

struct TextCheckOptions {
  int log2_tokens = 17;  ///< of all texts together
  int vocabulary = 6;
  int drafts = 3;
  double alpha = 1e-9;
  std::uint64_t seed = 1;
  std::string adapter{};
};

/// Requires a program that generates. A text without an answer within the limit leaves the finding undecided, with
/// the evidence of those before it. Throws: AdapterError.
std::vector<Finding> check_text(Served& program, const TextCheckOptions& options);

}  // namespace draftproof::adapters
