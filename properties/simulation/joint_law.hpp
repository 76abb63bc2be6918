// The law of (accepted draft, token) of an exact scheme in closed form, at any V. The statistical gate compares the
// counts of a simulation with it. One scheme a file in properties/simulation/joint_laws.
//
//   rows[k](x)   k < rows - 1   draft k is accepted and is x
//                last           the rest: no draft is accepted and the token is x; with fewer rows than drafts also
//                               the drafts accepted later
//
// A file `single_draft.hpp` defines, in namespace draftproof::joint_laws,
//
//   struct SingleDraft {
//     using Verifier = verifiers::SingleDraft;                                          // the scheme
//     static constexpr DraftLaws drafts{"iid"};                                         // its draft laws
//     static std::vector<std::vector<double>> rows(const RatioTable& table, int drafts);
//   };
//
// Rows sum to p token by token. tests/properties compares every file with an exact walk.
#pragma once

#include <string_view>
#include <vector>

#include <draftproof/properties/subjects/any_verifier.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/info.hpp>

namespace draftproof {

using JointRows = std::vector<std::vector<double>>;

struct JointLaw {
  std::string_view verifier;
  DraftLaws drafts;
  JointRows (*rows)(const RatioTable& table, int drafts);
};

class JointLaws {
 public:
  /// The process-wide list, possibly not filled yet; see known_joint_laws().
  static JointLaws& instance();
  /// Throws: std::logic_error if there is a law for this scheme and these drafts already.
  void add(const JointLaw& law);
  const std::vector<JointLaw>& all() const { return laws_; }
  /// Null if no law is known for this scheme on these drafts.
  const JointLaw* of(std::string_view verifier, std::string_view drafts) const;

 private:
  std::vector<JointLaw> laws_;
};

/// The list with the whole library in it.
const JointLaws& known_joint_laws();

/// The row for a verdict's `accepted`.
inline std::size_t path_of(int accepted, std::size_t rows) {
  return accepted >= 0 && static_cast<std::size_t>(accepted) + 1 < rows ? static_cast<std::size_t>(accepted)
                                                                        : rows - 1;
}

template <class Law>
void register_joint_law() {
  JointLaws::instance().add({Law::Verifier::info.name, Law::drafts, &Law::rows});
}

}  // namespace draftproof
