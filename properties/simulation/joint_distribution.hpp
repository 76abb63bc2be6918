// The joint distribution of (accepted draft, token) of an exact scheme in closed form, at any V. The
// statistical gate compares the counts of a simulation with it. One scheme per file in
// properties/simulation/joint_distributions.
//
//   rows[k](x)   k < rows - 1   draft k is accepted and is x
//                last           no draft is accepted and the token is x; if rows - 1 is less than the number of drafts,
//                               also: a draft without a row is accepted and is x
//
// A file `single_draft.hpp` defines, in namespace draftproof::joint_distributions,
//
//   struct SingleDraft {
//     using Verifier = verifiers::SingleDraft;          // the scheme
//     static constexpr DraftSamplings drafts{"iid"};    // its draft samplings
//     static std::vector<std::vector<double>> rows(const RatioTable& table, int drafts);
//   };
//
// The sum of all rows is p. tests/properties compares every file with an exact enumeration.
#pragma once

#include <string_view>
#include <vector>

#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/info.hpp>

namespace draftproof {

using JointRows = std::vector<std::vector<double>>;

struct JointDistribution {
  std::string_view verifier;
  DraftSamplings drafts;
  JointRows (*rows)(const RatioTable& table, int drafts);
};

class JointDistributions {
 public:
  /// Returns the process-wide list, which may not be filled yet; see known_joint_distributions().
  static JointDistributions& instance();
  /// Throws: std::logic_error if there is already an entry for this scheme and these drafts.
  void add(const JointDistribution& distribution);
  const std::vector<JointDistribution>& all() const { return distributions_; }
  /// Returns null if no closed form is known for this scheme on these drafts.
  const JointDistribution* of(std::string_view verifier, std::string_view drafts) const;

 private:
  std::vector<JointDistribution> distributions_;
};

/// Returns the list of all distributions.
const JointDistributions& known_joint_distributions();

/// Returns the index of the row in which a verdict with this index `accepted` (negative: no draft) is counted.
inline std::size_t path_of(int accepted, std::size_t rows) {
  return accepted >= 0 && static_cast<std::size_t>(accepted) + 1 < rows ? static_cast<std::size_t>(accepted)
                                                                        : rows - 1;
}

template <class Distribution>
void register_joint_distribution() {
  JointDistributions::instance().add({Distribution::Verifier::info.name, Distribution::drafts, &Distribution::rows});
}

}  // namespace draftproof
