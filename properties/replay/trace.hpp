// Shows decisions draw by draw: all paths of a decision on a small instance with their probabilities, or one
// simulated trial with the numbers that it drew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

/// One path of a decision.
struct TraceLine {
  std::string drafts;       ///< tokens in draw order; for a tree, such as 0(1 1) 1(0), children are in brackets
  std::string decisions;    ///< probabilities and outcomes: "1/2 no, 1/3 yes"
  std::string emitted;      ///< the token or step, or the distribution of the token
  std::string probability;  ///< probability of this path, drafts included
};

struct DecisionTrace {
  std::vector<TraceLine> lines;
  bool whole = true;  ///< whether `lines` has all paths; false if there are more than `most`
};

/// Returns at most `most` paths of the decision. Requires a verifier that can be enumerated.
DecisionTrace trace_instance(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance,
                             std::uint64_t most);
/// Returns at most `most` paths of one step of a verifier of paths.
DecisionTrace trace_instance(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                             const PathInstance& instance, std::uint64_t most);

/// Returns one trial of a simulation on these rows as lines: the drafts, each draw with its uniform number, the
/// verdict. Throws: std::invalid_argument if the verifier does not support the form of the rows.
template <class L>
std::vector<std::string> trace_trial(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& distributions,
                                     int drafts, std::uint64_t seed, std::uint64_t trial);
/// Returns one simulated iteration on an instance as lines, in double.
std::vector<std::string> trace_trial(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                                     const PathInstance& instance, std::uint64_t seed, std::uint64_t trial);

extern template std::vector<std::string> trace_trial(const AnyVerifier&, const AnyDrafter&, const Rows<double>&, int,
                                                     std::uint64_t, std::uint64_t);
extern template std::vector<std::string> trace_trial(const AnyVerifier&, const AnyDrafter&, const RatioTable&, int,
                                                     std::uint64_t, std::uint64_t);

}  // namespace draftproof
