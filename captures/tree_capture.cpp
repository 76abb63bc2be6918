#include <draftproof/captures/tree_capture.hpp>

#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <draftproof/captures/array.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/captures/npz.hpp>

namespace draftproof {

namespace {

const Array& require(const NamedArrays& arrays, std::string_view name, const std::string& file) {
  const Array* array = find_array(arrays, name);
  if (!array) throw file_error(file, fmt::format("no array '{}'", name), "a capture of trees");
  if (array->shape.size() != 3 || is_floating(array->dtype))
    throw array_error(file, name, fmt::format("{} of {} dimensions", to_string(array->dtype), array->shape.size()),
                      "integers [conditionals, paths, tokens]");
  return *array;
}

/// Returns the column of `token` in row `node`. Throws: InputError if the row does not have this token.
std::size_t symbol_of(const Capture& rows, std::size_t node, std::int64_t token, const std::string& file) {
  if (!rows.truncated()) {
    if (token >= 0 && token < static_cast<std::int64_t>(rows.vocabulary())) return static_cast<std::size_t>(token);
  } else if (token >= 0) {
    for (std::size_t symbol = 0; symbol + 1 < rows.vocabulary(); ++symbol)
      if (rows.token_id(node, symbol) == token) return symbol;
  }
  throw array_error(file, "paths", fmt::format("token {}", token), "a token of the row at its node", node);
}

}  // namespace

bool TreeCapture::recognises(const std::filesystem::path& path) {
  if (path.extension() != ".npz") return false;
  bool seen = false;
  read_npz(path, [&seen](std::string_view name) {
    seen = seen || name == "path_nodes";
    return false;
  });
  return seen;
}

TreeCapture TreeCapture::open(const std::filesystem::path& path) {
  const std::string file = path.string();
  const NamedArrays arrays =
      read_npz(path, [](std::string_view name) { return name == "paths" || name == "path_nodes"; });
  TreeCapture trees(Capture::open_rows(path));
  const Array& paths = require(arrays, "paths", file);
  const Array& nodes = require(arrays, "path_nodes", file);
  trees.conditionals_ = paths.shape[0];
  trees.paths_ = paths.shape[1];
  trees.length_ = paths.shape[2];
  if (trees.conditionals_ == 0 || trees.paths_ == 0 || trees.length_ == 0 || nodes.shape[0] != trees.conditionals_ ||
      nodes.shape[1] != trees.paths_ || nodes.shape[2] != trees.length_ + 1)
    throw array_error(
        file, "path_nodes", fmt::format("[{}, {}, {}]", nodes.shape[0], nodes.shape[1], nodes.shape[2]),
        fmt::format("[{}, {}, {}], one node more than tokens", trees.conditionals_, trees.paths_, trees.length_ + 1));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::int64_t node = nodes.as_integer(i);
    if (node < 0 || node >= static_cast<std::int64_t>(trees.rows_.positions()))
      throw array_error(file, "path_nodes", fmt::format("node {}", node),
                        fmt::format("a row below {}", trees.rows_.positions()), i / (trees.length_ + 1));
    trees.nodes_.push_back(static_cast<std::size_t>(node));
  }
  // A node stands for one prefix, so all paths must reach it from the same node by the same token.
  std::map<std::size_t, std::pair<std::size_t, std::int64_t>> origin;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::size_t path_index = i / trees.length_, depth = i % trees.length_;
    const std::size_t from = trees.nodes_[path_index * (trees.length_ + 1) + depth];
    const std::size_t to = trees.nodes_[path_index * (trees.length_ + 1) + depth + 1];
    const std::int64_t token = paths.as_integer(i);
    const auto [known, fresh] = origin.try_emplace(to, from, token);
    if (!fresh && known->second != std::pair{from, token})
      throw array_error(file, "path_nodes", fmt::format("node {} after two different prefixes", to),
                        "one prefix per node", path_index);
    trees.symbols_.push_back(symbol_of(trees.rows_, from, token, file));
  }
  return trees;
}

namespace {

/// Ratio tables and children of the nodes, shared by all threads.
struct Nodes {
  std::vector<RatioTable> distributions;
  std::vector<std::map<Token, int>> next;
};

class CapturedContexts final : public StepContexts {
 public:
  CapturedContexts(std::shared_ptr<const TreeCapture> capture, std::shared_ptr<const Nodes> nodes)
      : capture_{std::move(capture)}, nodes_{std::move(nodes)} {}

  const RatioTable& distributions(int context) const override {
    return nodes_->distributions[static_cast<std::size_t>(context)];
  }
  int next(int context, Token x) const override {
    const auto& children = nodes_->next[static_cast<std::size_t>(context)];
    const auto child = children.find(x);
    return child == children.end() ? no_context : child->second;
  }
  int start(std::uint64_t trial) override { return static_cast<int>(capture_->node(context_of(trial), 0, 0)); }

  /// Returns a tree of K of the P captured paths of a context. Because the P paths are independent, any K of them are
  /// independent; each trial of a context begins one path after the previous trial.
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
      throw file_error(file_, "a filter of the distributions",
                       "no filter: the paths were drawn from the stored distributions");
    const Capture& rows = capture_->rows();
    const std::string proposal = options.proposals.empty() ? rows.proposals().front() : options.proposals.front();
    rows.require_proposal(proposal);
    auto nodes = std::make_shared<Nodes>();
    for (std::size_t i = 0; i < rows.positions(); ++i)
      nodes->distributions.emplace_back(rows.target(i), rows.proposal(proposal, i));
    nodes->next.resize(rows.positions());
    for (std::size_t c = 0; c < capture_->conditionals(); ++c)
      for (std::size_t p = 0; p < capture_->paths(); ++p)
        for (std::size_t depth = 0; depth < capture_->length(); ++depth)
          nodes->next[capture_->node(c, p, depth)][static_cast<Token>(capture_->symbol(c, p, depth))] =
              static_cast<int>(capture_->node(c, p, depth + 1));
    nodes_ = std::move(nodes);
  }

  std::string name() const override { return one_line(std::filesystem::path(file_).stem().string()); }
  int vocabulary() const override { return static_cast<int>(capture_->rows().vocabulary()); }
  std::string summary() const override {
    return fmt::format("{} conditionals with {} captured paths of {} tokens, {} nodes, V = {}",
                       capture_->conditionals(), capture_->paths(), capture_->length(), capture_->rows().positions(),
                       vocabulary());
  }
  nlohmann::json describe() const override {
    nlohmann::json about{{"kind", "captured_trees"},
                         {"file", file_},
                         {"conditionals", capture_->conditionals()},
                         {"paths", capture_->paths()},
                         {"length", capture_->length()},
                         {"nodes", capture_->rows().positions()},
                         {"metadata", capture_->rows().metadata()}};
    if (!capture_->rows().truncated()) about["vocabulary"] = vocabulary();
    return about;
  }
  std::uint64_t stored_paths() const override { return capture_->conditionals() * capture_->paths(); }
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
