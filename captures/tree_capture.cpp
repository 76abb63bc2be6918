#include <draftproof/captures/tree_capture.hpp>

#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/npz.hpp>

namespace draftproof {

namespace {

const Array& require(const NamedArrays& arrays, std::string_view name, const std::string& file) {
  const Array* array = find_array(arrays, name);
  if (!array)
    throw InputError({.file = file, .found = fmt::format("no array '{}'", name), .wanted = "a capture of trees"});
  if (array->shape.size() != 3 || is_floating(array->dtype))
    throw InputError({.file = file,
                      .array = std::string(name),
                      .found = fmt::format("{} of {} dimensions", to_string(array->dtype), array->shape.size()),
                      .wanted = "integers [conditionals, paths, tokens]"});
  return *array;
}

/// The column of `token` in row `node`. Throws: InputError if the row does not have it.
std::size_t symbol_of(const Capture& rows, std::size_t node, std::int64_t token, const std::string& file) {
  if (!rows.truncated()) {
    if (token >= 0 && token < static_cast<std::int64_t>(rows.vocabulary())) return static_cast<std::size_t>(token);
  } else if (token >= 0) {
    for (std::size_t symbol = 0; symbol + 1 < rows.vocabulary(); ++symbol)
      if (rows.token_id(node, symbol) == token) return symbol;
  }
  throw InputError({.file = file,
                    .array = "paths",
                    .row = node,
                    .found = fmt::format("token {}", token),
                    .wanted = "a token of the row at its node"});
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
    throw InputError({.file = file,
                      .array = "path_nodes",
                      .found = fmt::format("[{}, {}, {}]", nodes.shape[0], nodes.shape[1], nodes.shape[2]),
                      .wanted = fmt::format("[{}, {}, {}], one node more than tokens", trees.conditionals_,
                                            trees.paths_, trees.length_ + 1)});
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::int64_t node = nodes.as_integer(i);
    if (node < 0 || node >= static_cast<std::int64_t>(trees.rows_.positions()))
      throw InputError({.file = file,
                        .array = "path_nodes",
                        .row = i / (trees.length_ + 1),
                        .found = fmt::format("node {}", node),
                        .wanted = fmt::format("a row below {}", trees.rows_.positions())});
    trees.nodes_.push_back(static_cast<std::size_t>(node));
  }
  // A node is one prefix, so it is always reached from the same node by the same token.
  std::map<std::size_t, std::pair<std::size_t, std::int64_t>> origin;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::size_t path_index = i / trees.length_, depth = i % trees.length_;
    const std::size_t from = trees.nodes_[path_index * (trees.length_ + 1) + depth];
    const std::size_t to = trees.nodes_[path_index * (trees.length_ + 1) + depth + 1];
    const std::int64_t token = paths.as_integer(i);
    const auto [known, fresh] = origin.try_emplace(to, from, token);
    if (!fresh && known->second != std::pair{from, token})
      throw InputError({.file = file,
                        .array = "path_nodes",
                        .row = path_index,
                        .found = fmt::format("node {} after two different prefixes", to),
                        .wanted = "one prefix a node"});
    trees.symbols_.push_back(symbol_of(trees.rows_, from, token, file));
  }
  return trees;
}

}  // namespace draftproof
