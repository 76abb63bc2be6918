// Where iterations start and what the models say on the way, for simulations of paths and trees: captured trees, a
// source of rows made into a model, or a live model behind one interface.
#pragma once

#include <cstddef>
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

/// The models as one thread sees them during its trials.
class StepContexts : public ConditionalModel<RatioTable> {
 public:
  /// The context in which trial `trial` starts; 0 <= trial. What was known of earlier trials may be forgotten.
  virtual int start(std::uint64_t trial) = 0;
  /// Tokens that may follow `context`: a model reads so far and no further. Drafts go no deeper.
  virtual int room(int /*context*/) const { return std::numeric_limits<int>::max(); }
  /// The stored tree of that trial with its paths cut to `shape`, where trees are stored; null where a drafter has to
  /// draw one.
  virtual const DraftTree* tree(std::uint64_t, const TreeShape&) { return nullptr; }
};

class PathSource {
 public:
  virtual ~PathSource() = default;

  virtual std::string name() const = 0;
  virtual int vocabulary() const = 0;
  virtual nlohmann::json describe() const = 0;
  /// One line for people.
  virtual std::string summary() const = 0;
  /// Whether trees are stored: then K and L have limits, and an iteration cannot be followed by another.
  virtual bool stored_trees() const { return false; }
  virtual int most_paths() const { return max_drafts; }
  virtual int longest() const { return 64; }

  /// The same conditionals as plain rows, where all that an iteration may do can be walked; null elsewhere. Trials start in
  /// conditionals 0 .. starts() - 1 in turn.
  virtual std::unique_ptr<ConditionalModel<Rows<double>>> plain() const { return nullptr; }
  virtual int starts() const { return 0; }

  /// A view for one thread. Rows are shared where they are shared between trials.
  virtual std::unique_ptr<StepContexts> open() const = 0;

  /// `spec` is a model (running_model.hpp), a file of captured trees, or any source of rows. Throws InputError.
  static std::unique_ptr<PathSource> open(const std::string& spec, const SourceOptions& options);
};

// A source of rows made into a model of the next token.

/// ConditionalModel are the positions of `source`; after context c token x leads to a position that is a hash of (c, x).
std::unique_ptr<PathSource> make_model_of(Source source);

// A live model as a source of steps: fresh conditionals without end, drafts by a cheaper copy of the target.

/// Whether `spec` names a model: FILE.bin, optionally with a draft after a colon.
bool is_model_spec(const std::string& spec);

/// `FILE.bin:q4` and `FILE.bin:q3` draft with the weights rounded to 4 or 3 bits, `FILE.bin:exit4` with the first
/// four layers; without a colon q4. Every trial reads a text of its own, sampled from the target at temperature 1.
/// Throws InputError.
std::unique_ptr<PathSource> open_live_model(const std::string& spec, const SourceOptions& options);

}  // namespace draftproof
