// Captured trees as a source of steps: the drafts are the paths drawn when the capture was made, K of P at a time.
#include <draftproof/captures/tree_capture.hpp>

#include <map>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>

namespace draftproof {

namespace {

/// Tables at the nodes, shared by all threads.
struct Nodes {
  std::vector<RatioTable> laws;
  std::vector<std::map<Token, int>> next;
};

class CapturedContexts final : public StepContexts {
 public:
  CapturedContexts(std::shared_ptr<const TreeCapture> capture, std::shared_ptr<const Nodes> nodes)
      : capture_{std::move(capture)}, nodes_{std::move(nodes)} {}

  const RatioTable& laws(int context) const override { return nodes_->laws[static_cast<std::size_t>(context)]; }
  int next(int context, Token x) const override {
    const auto& children = nodes_->next[static_cast<std::size_t>(context)];
    const auto child = children.find(x);
    return child == children.end() ? no_context : child->second;
  }
  int start(std::uint64_t trial) override { return static_cast<int>(capture_->node(context_of(trial), 0, 0)); }

  /// Paths are independent, so any K of the P paths are K independent paths. Trials take them in rotation.
  const DraftTree* tree(std::uint64_t trial, const TreeShape& shape) override {
    const std::size_t context = context_of(trial);
    const std::size_t first = trial / capture_->conditionals() % capture_->paths();
    auto& tree = trees_[{context, first, shape.drafts, shape.length}];
    if (!tree) {
      tree = std::make_unique<DraftTree>(start(trial));
      for (int k = 0; k < shape.drafts; ++k) {
        const std::size_t path = (first + static_cast<std::size_t>(k)) % capture_->paths();
        int u = DraftTree::root;
        for (std::size_t depth = 0; depth < static_cast<std::size_t>(shape.length); ++depth)
          u = tree->draw(u, static_cast<Token>(capture_->symbol(context, path, depth)),
                         static_cast<int>(capture_->node(context, path, depth + 1)));
      }
    }
    return tree.get();
  }

 private:
  std::size_t context_of(std::uint64_t trial) const { return trial % capture_->conditionals(); }

  std::shared_ptr<const TreeCapture> capture_;
  std::shared_ptr<const Nodes> nodes_;
  std::map<std::tuple<std::size_t, std::size_t, int, int>, std::unique_ptr<DraftTree>> trees_;
};

class CapturedTrees final : public PathSource {
 public:
  CapturedTrees(const std::filesystem::path& path, const SourceOptions& options)
      : file_{path.string()}, capture_{std::make_shared<const TreeCapture>(TreeCapture::open(path))} {
    if (!options.target_filter.changes_nothing() || !options.proposal_filter.changes_nothing())
      throw InputError({.file = file_,
                        .found = "a filter of the laws",
                        .wanted = "none: the paths were drawn from the laws as they are stored"});
    const Capture& rows = capture_->rows();
    const std::string proposal = options.proposals.empty() ? rows.proposals().front() : options.proposals.front();
    rows.require_proposal(proposal);
    auto nodes = std::make_shared<Nodes>();
    for (std::size_t i = 0; i < rows.positions(); ++i)
      nodes->laws.emplace_back(rows.target(i), rows.proposal(proposal, i));
    nodes->next.resize(rows.positions());
    for (std::size_t c = 0; c < capture_->conditionals(); ++c)
      for (std::size_t p = 0; p < capture_->paths(); ++p)
        for (std::size_t depth = 0; depth < capture_->length(); ++depth)
          nodes->next[capture_->node(c, p, depth)][static_cast<Token>(capture_->symbol(c, p, depth))] =
              static_cast<int>(capture_->node(c, p, depth + 1));
    nodes_ = std::move(nodes);
  }

  std::string name() const override { return std::filesystem::path(file_).stem().string(); }
  int vocabulary() const override { return static_cast<int>(capture_->rows().vocabulary()); }
  std::string summary() const override {
    return fmt::format("{} conditionals with {} captured paths of {} tokens, {} nodes, V = {}",
                       capture_->conditionals(), capture_->paths(), capture_->length(), capture_->rows().positions(),
                       vocabulary());
  }
  nlohmann::json describe() const override {
    return {{"kind", "captured_trees"},
            {"file", file_},
            {"conditionals", capture_->conditionals()},
            {"paths", capture_->paths()},
            {"length", capture_->length()},
            {"nodes", capture_->rows().positions()},
            {"metadata", capture_->rows().metadata()}};
  }
  bool stored_trees() const override { return true; }
  int most_paths() const override { return static_cast<int>(capture_->paths()); }
  int longest() const override { return static_cast<int>(capture_->length()); }
  std::unique_ptr<StepContexts> open() const override { return std::make_unique<CapturedContexts>(capture_, nodes_); }

 private:
  std::string file_;
  std::shared_ptr<const TreeCapture> capture_;
  std::shared_ptr<const Nodes> nodes_;
};

}  // namespace

std::unique_ptr<PathSource> open_captured_trees(const std::filesystem::path& path, const SourceOptions& options) {
  return std::make_unique<CapturedTrees>(path, options);
}

}  // namespace draftproof
