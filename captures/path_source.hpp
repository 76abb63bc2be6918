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
class PassageContexts : public Contexts<RatioTable> {
 public:
  /// The context in which trial `trial` starts; 0 <= trial. What was known of earlier trials may be forgotten.
  virtual int start(std::uint64_t trial) = 0;
  /// Tokens that may follow `context`: a model reads so far and no further. Drafts go no deeper.
  virtual int room(int /*context*/) const { return std::numeric_limits<int>::max(); }
  /// The stored tree of that trial with its paths cut to `shape`, where trees are stored; null where a drafter has to
  /// draw one.
  virtual const DraftTree* tree(std::uint64_t, const TreeShape&) { return nullptr; }
};

class PassageSource {
 public:
  virtual ~PassageSource() = default;

  virtual std::string name() const = 0;
  virtual int vocabulary() const = 0;
  virtual nlohmann::json describe() const = 0;
  /// One line for people.
  virtual std::string summary() const = 0;
  /// Whether trees are stored: then K and L have limits, and an iteration cannot be followed by another.
  virtual bool stored_trees() const { return false; }
  virtual int most_paths() const { return max_drafts; }
  virtual int longest() const { return 64; }

  /// The same contexts as plain rows, where all that an iteration may do can be walked; null elsewhere. Trials start in
  /// contexts 0 .. starts() - 1 in turn.
  virtual std::unique_ptr<Contexts<Rows<double>>> plain() const { return nullptr; }
  virtual int starts() const { return 0; }

  /// A view for one thread. Rows are shared where they are shared between trials.
  virtual std::unique_ptr<PassageContexts> open() const = 0;

  /// `spec` is a model (live_model.hpp), a file of captured trees, or any source of rows. Throws InputError.
  static std::unique_ptr<PassageSource> open(const std::string& spec, const SourceOptions& options);
};

}  // namespace draftproof
