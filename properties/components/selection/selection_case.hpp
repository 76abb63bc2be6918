// A readable batch for selection policies: a budget, the cost of a verification, and one small model for each
// request. It prints and parses as "budget=1 cost=(10 19 19) | L=1 K=1 [] p=(1 1)/2 q=(3 1)/4 c=5 accepted=1 past=(5)
// | L=1 ..".
//
//   budget     largest number of drafts that are verified, over all requests
//   cost       of a verification of 0, 1, .. drafts, in tenths; 1 by default
//   c          confidence after a prefix, in tenths; 1 by default (properties/instances/path_instance.hpp)
//   accepted   drafts of the request that were accepted one step ago
//   past       confidences of its positions one step ago, in tenths; 1 by default
//
// K drafts are drawn without replacement at every node; K = 1 is a chain. A token with p = 0 is forbidden by
// the grammar, which masks p but not q.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <draftproof/properties/instances/path_instance.hpp>

namespace draftproof {

struct SelectionCaseRequest {
  PathInstance model{};
  int accepted = 0;
  std::vector<int> past{};

  bool chain() const { return model.shape.drafts == 1; }
  bool operator==(const SelectionCaseRequest&) const = default;
};

struct SelectionCase {
  int budget = 0;
  std::vector<int> cost{};
  std::vector<SelectionCaseRequest> requests;

  /// Whether all requests are chains.
  bool chains() const;
  /// Whether there are 1 to 4 requests whose rows of q have at least K tokens, so that every node gets all its
  /// drafts.
  bool valid() const;
  std::string text() const;
  /// The inverse of text(). Throws: std::invalid_argument, which names the text and the expected format.
  static SelectionCase parse(std::string_view text);
  static constexpr std::string_view example = "budget=1 | L=1 K=1 [] p=(1 1)/2 q=(3 1)/4 c=5";

  bool operator==(const SelectionCase&) const = default;
};

/// Returns pointers to the rows of all models, for editing.
std::vector<std::vector<int>*> rows_of(SelectionCase& one);

/// Returns the cases one step smaller, most drastic first: one request less, no costs, no past, a smaller
/// model, fewer and simpler confidences.
std::vector<SelectionCase> shrinks(const SelectionCase& one);

/// Returns case n of a seed: of every five cases one is a chain, one a tree with two children per node, and
/// three are batches of two or three chains. V is 2 or 3 and L is 1 or 2. Confidences are saturated in half of
/// all rows.
SelectionCase generate_selection_case(std::uint64_t seed, int n);

}  // namespace draftproof
