// The kill matrix: every mutant and every wrong drafter against every property, and every correct verifier as a
// control.
//
//   row       a mutant of one position, a mutant of paths, a wrong drafter of tuples or trees, or a wrong component
//   caught    some property is violated; `first` is the first such property in the order of instances
//   control   a correct verifier with a correct drafter; no property may be violated
//
// Results do not depend on the number of threads.
//
// Cost: a search for a mutant ends soon after the mutant is caught; a control costs a short proof. A mutant written
// for several draft laws is tried on each in turn until it is caught.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <draftproof/properties/proof/finding.hpp>
#include <draftproof/properties/proof/proof.hpp>

namespace draftproof {

struct KillOptions {
  ProofOptions proof{};
  int instances = 240;  ///< instances offered to a mutant
  int further = 12;     ///< instances tried after it was caught, to find other violated properties
  int controls = 40;    ///< instances of a control; 0: no controls
  int shares = 0;       ///< instances of which the share that shows a mutant is counted; 0: no shares
  bool components = true;
  /// Name of the verifier that runs on the drafts of wrong drafters.
  std::string verifier = "single_draft";
  std::string path_verifier = "token_path";  ///< the same for wrong drafters of trees
  Checkpoint* checkpoint = nullptr;          ///< of rows and controls
};

/// The result for one mutant, wrong drafter or wrong component.
struct KillRow {
  std::string level;                  ///< "position", "paths", "drafters", "tree drafters", or a group of components
  std::string name;                   ///< name of the mutant
  std::string mutant_of;              ///< the correct rule that the mutant is derived from
  std::string partner;                ///< draft law with which it was caught; for a drafter the verifier
  bool lossy = false;                 ///< whether it is lossy by design; its distance is then the result
  std::vector<Finding> findings{};    ///< one per check asked
  int first = -1;                     ///< index of the finding that caught it, or -1
  int decided = -1;                   ///< index of the violated finding that decides losslessness, or -1
  int instances = 0;                  ///< number of instances examined
  std::uint64_t work = 0;             ///< number of branches walked, or trials run
  std::optional<double> distance{};   ///< largest total variation to the target, if the law is known
  std::string farthest{};             ///< the instance of that distance
  std::optional<ShownShare> share{};  ///< of the draft law with which it was caught, where it was asked for
  double seconds = 0;

  bool caught() const { return first >= 0; }
  /// Whether at least one instance in ten shows it, where shares were counted.
  bool common() const { return !share || share->enough(); }
  static auto fields(auto& r) {
    return std::tie(r.level, r.name, r.mutant_of, r.partner, r.lossy, r.findings, r.first, r.decided, r.instances,
                    r.work, r.distance, r.farthest, r.share, r.seconds);
  }
  /// The finding that caught it, null for a survivor.
  const Finding* catcher() const { return caught() ? &findings[static_cast<std::size_t>(first)] : nullptr; }
  /// The finding whose counterexample is shown: the decisive one if violated, else catcher().
  const Finding* shown() const { return decided >= 0 ? &findings[static_cast<std::size_t>(decided)] : catcher(); }
};

/// The result for one correct verifier with one draft law.
struct ControlRow {
  std::string level, name, law;
  int instances = 0;
  bool provable = true;
  std::optional<Finding> accused{};  ///< the first violation

  static auto fields(auto& r) { return std::tie(r.level, r.name, r.law, r.instances, r.provable, r.accused); }
};

struct KillMatrix {
  std::vector<KillRow> rows;
  std::vector<ControlRow> controls;
  double seconds = 0;

  /// Whether every mutant is caught, and by enough instances where shares were counted, and no control has a violation.
  bool clean() const;
};

/// The row of a subject that was examined elsewhere, such as a component around a verifier.
KillRow kill_row(std::string level, std::string name, std::vector<Finding> findings);

/// The matrix of everything registered, in the registries' order: position, paths, drafters, components. A block is a row
/// or a control; a process that computes a part returns no rows.
KillMatrix kill_matrix(const KillOptions& options);

}  // namespace draftproof
