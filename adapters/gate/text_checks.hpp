// A whole engine that cannot be cut: two Markov tables stand for its models, and the text that it generates is held to the
// target's transitions. Every token of a lossless engine has law p(. | token before it), whatever came before.
//
//   s          the last n tokens, n = 1, 2, 3
//   bet        each token is predicted by (c p(x | last) + count(s, x)) / (c + count(s)), c = 10^0 .. 10^6
//   e          the mean over n and c of the product over tokens of prediction / p(x | last)
//
// Correctness: given the past each factor has mean 1 under p, so e is a test martingale: it ever reaches 1 / alpha with
// probability at most alpha (Ville), for any length of the text and any dependence. Contexts of two and three tokens see
// faults that follow from an engine's blocks. A token with p = 0 is a proof.
//
// The tokens are asked in texts, the first of 1024 tokens and each further one as long as all before it, so that something is
// known where a text takes too long. Each text has a seed of its own and starts after token 0; counts go on from one text to
// the next. A lossless engine draws a text from p whatever the texts before it were, so each factor has mean 1 given all
// tokens before it, those of other texts too: the product over the texts is the same martingale.
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

/// The evidence of texts against `target`, [V, V]: row t is the law after token t. Each text starts after token 0.
/// Cost: V^3 counts, and 21 logarithms a token.
TextEvidence evidence_of_texts(std::span<const std::vector<std::int32_t>> texts, std::span<const double> target,
                               int vocabulary);

struct TextCheckOptions {
  int log2_tokens = 17;  ///< of all texts together
  int vocabulary = 6;
  int drafts = 3;
  double alpha = 1e-9;
  std::uint64_t seed = 1;
  std::string door{};
};

/// Requires a program that generates. A text without an answer within the limit leaves the finding undecided, with the
/// evidence of those before it. Throws: DoorError.
std::vector<Finding> check_text(Served& program, const TextCheckOptions& options);

}  // namespace draftproof::adapters
