// The law of (accepted draft, token) of an exact scheme in closed form, at any V: what the statistical gate holds the
// counts of a simulation against, and where it sees most. One scheme a file in properties/path_laws.
//
//   rows[k](x)   k < rows - 1   draft k is accepted and is x
//                last           the rest: no draft is accepted and the token is x; with fewer rows than drafts also
//                               what is accepted later
//
// A file `single_draft.hpp` defines, in namespace draftproof::path_laws,
//
//   struct SingleDraft {
//     using Verifier = verifiers::SingleDraft;                                          // whose law it is
//     static constexpr DraftLaws drafts{"iid"};                                         // on which drafts
//     static std::vector<std::vector<double>> rows(const RatioTable& table, int drafts);
//   };
//
// Rows sum to p token by token: tests/properties holds every file against an exact walk.
#pragma once

#include <string_view>
#include <vector>

#include <draftproof/properties/subjects/named_list.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/info.hpp>

namespace draftproof {

using PathRows = std::vector<std::vector<double>>;

struct PathLaw {
  std::string_view verifier;
  DraftLaws drafts;
  PathRows (*rows)(const RatioTable& table, int drafts);
};

class PathLaws {
 public:
  /// What has been added so far; known_path_laws() holds everything of this library.
  static PathLaws& instance();
  void add(const PathLaw& law);
  const std::vector<PathLaw>& all() const { return laws_; }
  /// Null if none is known for this scheme on these drafts.
  const PathLaw* of(std::string_view verifier, std::string_view drafts) const;

 private:
  std::vector<PathLaw> laws_;
};

/// With everything of this library in it.
const PathLaws& known_path_laws();

/// Row of a verdict's `accepted`.
inline std::size_t path_of(int accepted, std::size_t rows) {
  return accepted >= 0 && static_cast<std::size_t>(accepted) + 1 < rows ? static_cast<std::size_t>(accepted)
                                                                        : rows - 1;
}

template <class Law>
void register_path_law() {
  PathLaws::instance().add({Law::Verifier::info.name, Law::drafts, &Law::rows});
}

}  // namespace draftproof
