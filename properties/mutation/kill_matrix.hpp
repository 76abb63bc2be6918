// The kill matrix: every mutant and every wrong drafter against every property, and every correct verifier as a
// control.
//
//   row       a mutant of one position, a mutant of paths, a wrong drafter of tuples or trees, or a wrong component
//   caught    some property fails; `first` is the first such property in the order of instances
//   control   a correct verifier with a correct drafter; no property may fail
//
// Results do not depend on the number of threads.
//
// Cost: a search for a mutant ends soon after the mutant is caught; a control costs a short proof. A mutant for
// several draft samplings is tried with each in turn until it is caught.
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
  int instances = 240;  ///< largest number of instances for a mutant
  int further = 12;     ///< instances tried after a mutant is caught, to find other failing properties
  int controls = 40;    ///< instances of a control; 0: no controls
  int shares = 0;       ///< instances on which to count the share that reveals a mutant; 0: no shares
  bool components = true;
  /// Name of the verifier that runs on wrong drafters.
  std::string verifier = "single_draft";
  std::string path_verifier = "token_path";  ///< as `verifier`, for wrong drafters of trees
  Checkpoint* checkpoint = nullptr;          ///< stores the blocks of rows and controls
};

/// The result for one mutant, wrong drafter or wrong component.
struct KillRow {
  std::string level;                 ///< "position", "paths", "drafters", "tree drafters", or a group of components
  std::string name;                  ///< name of the mutant
  std::string mutant_of;             ///< the correct scheme that the mutant is derived from
  std::string partner;               ///< draft sampling with which the mutant was caught; for a drafter, the verifier
  bool lossy = false;                ///< whether the mutant is lossy by design; the result is then its distance
  std::vector<Finding> findings{};   ///< one per check that was run
  int first = -1;                    ///< index of the finding that caught the mutant, or -1
  int decided = -1;                  ///< index of the failed finding that decides losslessness, or -1
  int instances = 0;                 ///< number of instances examined
  std::uint64_t work = 0;            ///< number of branches enumerated, or trials run
  std::optional<double> distance{};  ///< largest total variation to the target, if the distribution is known
  std::string farthest{};            ///< the instance with that distance
  std::optional<ShownShare> share{};  ///< measured with the draft sampling that caught the mutant; set if requested
  double seconds = 0;

  bool caught() const { return first >= 0; }
  /// Whether at least one instance in ten reveals the mutant; true if shares were not counted.
  bool common() const { return !share || share->enough(); }
  static auto fields(auto& r) {
    return std::tie(r.level, r.name, r.mutant_of, r.partner, r.lossy, r.findings, r.first, r.decided, r.instances,
                    r.work, r.distance, r.farthest, r.share, r.seconds);
  }
  /// Returns the finding that caught the mutant; null if no finding did.
  const Finding* catcher() const { return caught() ? &findings[static_cast<std::size_t>(first)] : nullptr; }
  /// Returns the finding whose counterexample is shown: the decisive one if it failed, else catcher().
  const Finding* shown() const { return decided >= 0 ? &findings[static_cast<std::size_t>(decided)] : catcher(); }
};

/// The result for one correct verifier with one draft sampling.
struct ControlRow {
  std::string level, name, distribution;
  int instances = 0;
  bool provable = true;
  std::optional<Finding> accused{};  ///< the first failure

  static auto fields(auto& r) {
    return std::tie(r.level, r.name, r.distribution, r.instances, r.provable, r.accused);
  }
};

struct KillMatrix {
  std::vector<KillRow> rows;
  std::vector<ControlRow> controls;
  double seconds = 0;

  /// Whether every mutant is caught, on enough instances if shares were counted, and no control fails.
  bool clean() const;
};

/// Returns a row from findings of another kind of examination, such as the checks of a component around a verifier.
KillRow kill_row(std::string level, std::string name, std::vector<Finding> findings);

/// Returns the matrix of everything registered, in the registries' order: position, paths, drafters,
/// components. A block is a row or a control; a process that computes a shard returns no rows.
KillMatrix kill_matrix(const KillOptions& options);

}  // namespace draftproof
