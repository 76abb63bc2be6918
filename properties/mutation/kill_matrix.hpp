// The kill matrix: every subject that is wrong on purpose against every property, and every correct one as a control.
//
//   row       a mutant of one position, of paths, a wrong drafter; of a component, what its examination found
//   caught    some property is violated; the first one in order of instances is "caught by"
//   control   a correct verifier with a right drafter, which nothing may accuse
//
// Cost: mutants are let go soon after they are caught; controls pay for a short proof each. A mutant written for
// several draft laws is hunted on each in turn until it is caught. Deterministic for any number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/proof/proof.hpp>

namespace draftproof {

struct KillOptions {
  ProofOptions proof{};
  int instances = 240;  ///< offered to a mutant
  int further = 12;     ///< asked after it was caught, for what else violates
  int controls = 40;    ///< instances of a control; 0: no controls
  bool components = true;
  /// Of wrong drafters: who verifies their drafts.
  std::string verifier = "single_draft";
};

struct KillRow {
  std::string level;                    ///< "position", "paths", "drafters", or a group of components
  std::string name;                     ///< of the mutant
  std::string mutant_of;                 ///< the correct rule it is a slip of
  std::string partner;                  ///< the draft law it was caught with; of a drafter its verifier
  bool lossy = false;                   ///< lossy by design: its distance is the result
  std::vector<GateFinding> findings{};  ///< one per check asked
  int first = -1;                       ///< index of the one that caught it
  int decided = -1;                     ///< of the one whose counterexample is shown: what decides, if violated
  int instances = 0;                    ///< examined
  std::uint64_t work = 0;               ///< branches walked, or trials run
  std::optional<double> distance{};     ///< largest total variation to the target seen, where the law is known
  std::string farthest{};               ///< instance of that distance
  double seconds = 0;

  bool caught() const { return first >= 0; }
  /// What caught it, and the finding whose counterexample says most; null for a survivor.
  const GateFinding* catcher() const { return caught() ? &findings[static_cast<std::size_t>(first)] : nullptr; }
  const GateFinding* shown() const { return decided >= 0 ? &findings[static_cast<std::size_t>(decided)] : catcher(); }
};

struct ControlRow {
  std::string level, name, law;
  int instances = 0;
  bool provable = true;
  std::optional<GateFinding> accused{};  ///< by the first violation
};

struct KillMatrix {
  std::vector<KillRow> rows;
  std::vector<ControlRow> controls;
  double seconds = 0;

  /// Every mutant caught, nobody accused.
  bool clean() const;
};

/// A row of a subject that was examined elsewhere: a component around a verifier.
KillRow kill_row(std::string level, std::string name, std::vector<GateFinding> findings);

/// Everything registered, in the registries' order: position, paths, drafters, components.
KillMatrix kill_matrix(const KillOptions& options);

}  // namespace draftproof
