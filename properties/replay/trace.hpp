// Decisions draw by draw: every possible course of a decision on a small instance with its probability, or one
// simulated trial with the numbers it drew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

/// One possible course of a decision.
struct TraceLine {
  std::string drafts;       ///< tokens in draw order; for a tree as 0(1 1) 1(0)
  std::string decisions;    ///< probabilities and outcomes: "1/2 no, 1/3 yes"
  std::string emitted;      ///< the token or step, or the weights that it is drawn with
  std::string probability;  ///< of this course, drafts included
};

struct DecisionTrace {
  std::vector<TraceLine> lines;
  bool whole = true;  ///< false: there are more courses than `most`
};

/// At most `most` courses of the decision. Requires a verifier that can be explored.
DecisionTrace trace_instance(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance,
                             std::uint64_t most);
/// The same for paths.
DecisionTrace trace_instance(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                             const PathInstance& instance, std::uint64_t most);

/// One trial of a simulation on these laws, in lines: the drafts, each draw with its uniform, the verdict.
/// Throws: std::invalid_argument if the verifier does not run on these laws.
template <class L>
std::vector<std::string> trace_trial(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& laws,
                                     int drafts, std::uint64_t seed, std::uint64_t trial);
/// The same for one iteration on an instance, in double.
std::vector<std::string> trace_trial(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                                     const PathInstance& instance, std::uint64_t seed, std::uint64_t trial);

extern template std::vector<std::string> trace_trial(const AnyVerifier&, const AnyDrafter&, const Rows<double>&, int,
                                                     std::uint64_t, std::uint64_t);
extern template std::vector<std::string> trace_trial(const AnyVerifier&, const AnyDrafter&, const RatioTable&, int,
                                                     std::uint64_t, std::uint64_t);

}  // namespace draftproof
