#include <draftproof/captures/path_source.hpp>

#include <filesystem>

#include <fmt/format.h>

#include <draftproof/captures/tree_capture.hpp>
#include <draftproof/sim/random/philox4x32.hpp>

namespace draftproof {

namespace {

// Makes a model from a source of rows. Contexts are the positions of the source; after a token, the new context is
// given by a hash of the old context and the token. Steps may have any length, and all trials share one table per
// position.

using Tables = std::vector<RatioTable>;

/// Returns the context after token x.
int hashed(int context, Token x, std::size_t conditionals) {
  // Philox's counter is the pair of context and token; its key separates this hash from random draws.
  const auto block = philox_pair(0x6e657874u, static_cast<std::uint64_t>(x), static_cast<std::uint32_t>(context), 0);
  return static_cast<int>(block.first % conditionals);
}

class PlainContexts final : public ConditionalModel<Rows<double>> {
 public:
  explicit PlainContexts(const Source& source) {
    for (std::size_t i = 0; i < source.positions(); ++i) {
      RowPair pair = source.pair(i);
      rows_.emplace_back(std::move(pair.target), std::move(pair.proposals.front()));
    }
  }
  const Rows<double>& distributions(int context) const override { return rows_[static_cast<std::size_t>(context)]; }
  int next(int context, Token x) const override { return hashed(context, x, rows_.size()); }

 private:
  std::vector<Rows<double>> rows_;
};

class HashedContexts final : public StepContexts {
 public:
  explicit HashedContexts(std::shared_ptr<const Tables> tables) : tables_{std::move(tables)} {}

  const RatioTable& distributions(int context) const override {
    return (*tables_)[static_cast<std::size_t>(context)];
  }
  int next(int context, Token x) const override { return hashed(context, x, tables_->size()); }
  int start(std::uint64_t trial) override { return static_cast<int>(trial % tables_->size()); }

 private:
  std::shared_ptr<const Tables> tables_;
};

class PositionAsModel final : public PathSource {
 public:
  explicit PositionAsModel(Source source) : source_{std::move(source)} {
    auto tables = std::make_shared<Tables>();
    for (std::size_t i = 0; i < source_.positions(); ++i) {
      const RowPair pair = source_.pair(i);
      tables->emplace_back(pair.target, pair.proposals.front());
    }
    tables_ = std::move(tables);
  }

  std::string name() const override { return source_.name(); }
  int vocabulary() const override { return static_cast<int>(source_.vocabulary()); }
  std::string summary() const override {
    return fmt::format("{} rows as conditional distributions, chosen by a hash of the prefix, V = {}, proposal {}",
                       source_.positions(), source_.vocabulary(), source_.proposal_names().front());
  }
  nlohmann::json describe() const override {
    nlohmann::json about = source_.describe();
    about["kind"] = "position_as_model";
    return about;
  }
  std::unique_ptr<StepContexts> open() const override { return std::make_unique<HashedContexts>(tables_); }
  std::unique_ptr<ConditionalModel<Rows<double>>> plain() const override {
    return std::make_unique<PlainContexts>(source_);
  }
  int starts() const override { return static_cast<int>(source_.positions()); }

 private:
  Source source_;
  std::shared_ptr<const Tables> tables_;
};

}  // namespace

std::unique_ptr<PathSource> make_model_of(Source source) {
  return std::make_unique<PositionAsModel>(std::move(source));
}

std::unique_ptr<PathSource> PathSource::open(const std::string& spec, const SourceOptions& options) {
  if (is_model_spec(spec)) return open_running_model(spec, options);
  if (std::filesystem::is_regular_file(spec) && TreeCapture::recognises(spec))
    return open_captured_trees(spec, options);
  return make_model_of(Source::open(spec, options));
}

}  // namespace draftproof
