// The judgement of a distribution that was found by calls: its distance from the target on a small model, compared
// with the largest deviation that rounding in the program's number formats can cause.
//
//   C(x)       probability of the string x of `length` tokens, of which the target draws those not emitted
//   distance   1/2 sum |C(x) - p(x)|
//   limit      rounding_limit()
//
// A distribution beyond the limit is wrong. A distribution within it may still emit tokens of p = 0, at an edge of
// the number grid; such outcomes are edge findings, with their probability per decision.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/adapters/explorer/explore.hpp>
#include <draftproof/adapters/gate/small_model.hpp>

namespace draftproof::adapters {

/// A token that the program emits with another probability than the target, after a prefix that it reached.
struct WorstToken {
  Tokens prefix;
  Token token;
  double found, wanted;  ///< probability that emitted strings begin with prefix and token
};

/// An outcome of probability zero in any exact verifier.
struct EdgeOutcome {
  std::string what;    ///< description, with the input
  std::string where;   ///< the draws that lead to it, as way_text() writes them
  double probability;  ///< probability per decision on the input
  std::size_t input;   ///< index of the input in the small model
  bool emits;          ///< true: a token of p = 0 or after an end token; false: no tokens
};

struct Judgement {
  double distance = 0, limit = 0;
  double mass = 0;        ///< explored probability, at most 1; unexplored mass counts as distance
  double failed = 0;      ///< probability of rows that fail, which counts as distance too
  double acceptance = 0;  ///< expected number of emitted tokens that are drafts; at one position, their probability
  std::optional<WorstToken> worst{};
  std::vector<EdgeOutcome> edges{};  ///< likeliest first

  bool wrong() const { return distance > limit; }
};

/// Returns the verb that describes a row with this status, such as "fails".
std::string_view status_text(RowStatus status);
/// Describes the end of a row without an answer, with the message of the program unless it is empty.
std::string failure_text(RowStatus status, const std::string& message);

/// Returns the number of bits of the significand, including the leading 1.
int significant_bits(Dtype dtype);

/// Returns the largest total variation that rounding before the draws can cause, in addition to
/// ProgramDistribution::limit. Each of n + 1 decisions reads a row of p and one of q, whose entries are each off by at
/// most 2^-bits of their value, and computes with them: a sum of V terms, and a quotient or product.
double rounding_limit(Dtype dtype, int drafts, int vocabulary);
/// Returns a bound on the rounding of a temperature: the logarithm of an entry of at least 10^-12 is off by 28 *
/// 2^-bits, and the exponential by 4 * 2^-bits.
double settings_limit(Dtype dtype, int drafts);

/// Returns a program's distributions on inputs whose probabilities are `drawn`, or nothing, which makes judge_calls()
/// stop.
using ExploreCalls = std::function<std::vector<ProgramDistribution>(const std::vector<Input>& inputs,
                                                                    const std::vector<double>& drawn)>;

/// Judges a program with state. Each call gets the state that the previous call returned, until there are `length`
/// tokens. These `length` tokens are compared with the target without completion (further tokens drawn from the
/// target). All calls that begin after equally many tokens are explored together.
/// Cost: an exploration for each input after each string and state that is reached.
/// Correctness: the limit is twice the sum over calls of the largest limit of a call. The deviations of calls add up in
/// total variation, and a state computed from rows has the errors of the rows, hence the factor 2.
Judgement judge_calls(const SmallModel& small_model, const Declaration& declaration, const ExploreCalls& explore);

/// Judges `distributions`, which belong to small_model.inputs, in order.
Judgement judge(const SmallModel& small_model, std::span<const ProgramDistribution> distributions,
                const Declaration& declaration);

/// Returns "k * 2^-24" if a small probability is a multiple of 2^-24 (or of 2^-32 or 2^-53), "1 - k * 2^-24" if the
/// complement is a small multiple of 2^-24 or 2^-32, else the text of fraction_text().
std::string probability_text(double probability);

/// Returns "5/6" for a number within `tolerance` of a fraction whose denominator is at most 1,000, else six digits.
std::string fraction_text(double value, double tolerance);

}  // namespace draftproof::adapters
