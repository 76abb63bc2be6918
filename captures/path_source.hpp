// Sources of steps, for simulations of paths and trees: where iterations start, and the models' distributions after
// each prefix. The sources are captured trees, a source of rows made into a model, and a live model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <draftproof/captures/source.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/trees/conditional_model.hpp>

namespace draftproof {

/// The distributions of target and proposal after prefixes, as used by the trials of one thread.
class StepContexts : public ConditionalModel<RatioTable> {
 public:
  /// Returns the context in which trial `trial` >= 0 starts. Contexts of earlier trials may become invalid.
  virtual int start(std::uint64_t trial) = 0;
  /// Returns the largest number of tokens that may follow `context`, because a model's context is limited. Drafted
  /// paths are not longer.
  virtual int room(int /*context*/) const { return std::numeric_limits<int>::max(); }
  /// Returns the stored tree of a trial with its paths cut to `shape`; null if the source stores no trees, so that a
  /// drafter must draw a tree.
  virtual const DraftTree* tree(std::uint64_t, const TreeShape&) { return nullptr; }
};

class PathSource {
 public:
  virtual ~PathSource() = default;

  /// Name for reports.
  virtual std::string name() const = 0;
  /// Number of symbols of a row.
  virtual int vocabulary() const = 0;
  /// Settings and provenance, for reports.
  virtual nlohmann::json describe() const = 0;
  /// A description in one line.
  virtual std::string summary() const = 0;
  /// Number of stored paths, which is a multiple of most_paths(); trials 0 .. stored_paths() - 1 use each path once as
  /// their first path. 0 if no trees are stored.
  virtual std::uint64_t stored_paths() const { return 0; }
  /// Whether trees are stored. K and L then have limits, and trials have one iteration.
  bool stored_trees() const { return stored_paths() > 0; }
  /// Largest number K of paths.
  virtual int most_paths() const { return max_drafts; }
  /// Largest number L of drafted tokens of a path.
  virtual int longest() const { return 64; }

  /// Returns the same model with plain rows in place of tables, if all outcomes of an iteration can be enumerated; null
  /// otherwise.
  virtual std::unique_ptr<ConditionalModel<Rows<double>>> plain() const { return nullptr; }
  /// Number of starts: trials start in contexts 0 .. starts() - 1 in turn. 0 if there are no fixed starts.
  virtual int starts() const { return 0; }

  /// Returns a view for one thread. Rows that trials share are stored once.
  virtual std::unique_ptr<StepContexts> open() const = 0;

  /// Opens `spec`: a model (is_model_spec), a file of captured trees, or any source of rows. Throws: InputError.
  static std::unique_ptr<PathSource> open(const std::string& spec, const SourceOptions& options);
};

// A source of rows made into a model of the next token.

/// Returns a model whose contexts are the positions of `source`; after context c, token x leads to the position
/// hash(c, x).
std::unique_ptr<PathSource> make_model_of(Source source);

// A live model as a source of steps: it generates any number of fresh contexts, and a cheaper copy of it drafts.

/// Whether `spec` names a model: FILE.bin, optionally with a draft after a colon.
bool is_model_spec(const std::string& spec);

/// Opens a model and its draft. `FILE.bin:q4` and `FILE.bin:q3` draft with the weights rounded to 4 or 3 bits,
/// `FILE.bin:exit4` with the first four layers; the default is q4. Every trial reads a separate text, sampled from the
/// target at temperature 1. Throws: InputError.
std::unique_ptr<PathSource> open_running_model(const std::string& spec, const SourceOptions& options);

}  // namespace draftproof
