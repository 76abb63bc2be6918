// What happened, draw by draw: every way a decision on a small instance may go, with its probability, or one
// simulated trial with the numbers it drew. For people who want to see a failure with their own eyes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <draftproof/properties/instances/instance.hpp>
#include <draftproof/properties/instances/path_instance.hpp>
#include <draftproof/properties/subjects/any_path_verifier.hpp>
#include <draftproof/properties/subjects/any_verifier.hpp>

namespace draftproof {

/// One way it may go.
struct TraceLine {
  std::string drafts;       ///< tokens in draw order; of a tree as 0(1 1) 1(0)
  std::string decisions;    ///< chances and what came: "1/2 no, 1/3 yes"
  std::string emitted;      ///< the token or step, or the weights it is drawn with
  std::string probability;  ///< of going this way, drafts included
};

struct DecisionTrace {
  std::vector<TraceLine> lines;
  bool whole = true;  ///< false: there are more ways than were asked for
};

/// At most `most` ways. The verifier can be explored.
DecisionTrace trace_instance(const AnyVerifier& verifier, const AnyDrafter& drafter, const Instance& instance, std::uint64_t most);
DecisionTrace trace_instance(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter, const PathInstance& instance,
           std::uint64_t most);

/// One trial of a simulation on these laws: the drafts, each draw with its uniform number, the verdict. Throws
/// std::invalid_argument if the verifier does not run on them.
template <class L>
std::vector<std::string> trace_trial(const AnyVerifier& verifier, const AnyDrafter& drafter, const L& laws, int drafts,
                                    std::uint64_t seed, std::uint64_t trial);
/// The same of one iteration on an instance, in double.
std::vector<std::string> trace_trial(const AnyPathVerifier& verifier, const AnyTreeDrafter& drafter,
                                    const PathInstance& instance, std::uint64_t seed, std::uint64_t trial);

extern template std::vector<std::string> trace_trial(const AnyVerifier&, const AnyDrafter&, const Rows<double>&, int,
                                                    std::uint64_t, std::uint64_t);
extern template std::vector<std::string> trace_trial(const AnyVerifier&, const AnyDrafter&, const RatioTable&, int,
                                                    std::uint64_t, std::uint64_t);

}  // namespace draftproof
