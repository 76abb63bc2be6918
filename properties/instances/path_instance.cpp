#include <draftproof/properties/instances/path_instance.hpp>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/instances/instance_text.hpp>

namespace draftproof {

namespace {

bool valid_shape(const TreeShape& shape) {
  const auto& branching = shape.branching;
  return shape.drafts >= 1 && shape.drafts <= max_drafts && shape.length >= 1 &&
         shape.length <= PathInstance::most_length && shape.stem >= 0 && shape.stem <= shape.length &&
         shape.fixed >= 0 && shape.fixed <= max_drafts && shape.nodes >= 0 &&
         shape.nodes <= PathInstance::most_nodes && (branching.empty() || std::ssize(branching) == shape.length) &&
         std::all_of(branching.begin(), branching.end(), [](int n) { return n >= 1 && n <= max_drafts; });
}

TreeShape parse_shape(InstanceReader& reader) {
  TreeShape shape;
  shape.length = reader.named_number("L", 1, PathInstance::most_length);
  shape.drafts = reader.named_number("K", 1, max_drafts);
  if (reader.starts_with("stem=")) shape.stem = reader.named_number("stem", 0, shape.length);
  if (reader.starts_with("fixed=")) shape.fixed = reader.named_number("fixed", 0, max_drafts);
  if (reader.starts_with("nodes=")) shape.nodes = reader.named_number("nodes", 0, PathInstance::most_nodes);
  if (reader.accept("branching=")) {
    shape.branching = reader.numbers("(", ")", max_drafts);
    if (!valid_shape(shape))
      throw std::invalid_argument(fmt::format("instance: got branching=({}), expected {} numbers from 1 to {}",
                                              fmt::join(shape.branching, " "), shape.length, max_drafts));
  }
  return shape;
}

}  // namespace

int prefix_count(int vocabulary, int length) {
  int count = 1, level = 1;
  for (int i = 0; i < length && count <= PathInstance::most_prefixes; ++i) count += level *= vocabulary;
  return count;
}

std::vector<Tokens> prefixes_up_to(int vocabulary, int length) {
  std::vector<Tokens> prefixes{{}};
  for (std::size_t i = 0; i < prefixes.size(); ++i)
    for (Token x = 0; std::ssize(prefixes[i]) < length && x < vocabulary; ++x) {
      Tokens longer = prefixes[i];
      longer.push_back(x);
      prefixes.push_back(std::move(longer));
    }
  return prefixes;
}

const PrefixWeights& PathInstance::after(Tokens prefix) const {
  for (;; prefix.pop_back())
    if (const auto found = rows.find(prefix); found != rows.end()) return found->second;
}

PrefixTable<Rows<Rational>> PathInstance::conditionals() const {
  std::vector<Rows<Rational>> all;
  for (const Tokens& prefix : prefixes_up_to(vocabulary(), listed_length())) {
    const PrefixWeights& weights = after(prefix);
    all.emplace_back(normalised(weights.target), normalised(weights.proposal));
  }
  return PrefixTable<Rows<Rational>>(std::move(all));
}

bool PathInstance::valid() const {
  if (!valid_shape(shape) || rows.empty() || !rows.begin()->first.empty()) return false;
  const auto size = static_cast<std::size_t>(vocabulary());
  return listed_length() <= shape.length && prefix_count(vocabulary(), listed_length()) <= most_prefixes &&
         std::all_of(rows.begin(), rows.end(), [size](const auto& entry) {
           return valid_weights(entry.second.target, size) && valid_weights(entry.second.proposal, size) &&
                  std::all_of(entry.first.begin(), entry.first.end(),
                              [size](Token x) { return x >= 0 && static_cast<std::size_t>(x) < size; });
         });
}

std::string PathInstance::text() const {
  std::string text = fmt::format("L={} K={}", shape.length, shape.drafts);
  if (shape.stem > 0) text += fmt::format(" stem={}", shape.stem);
  if (shape.fixed > 0) text += fmt::format(" fixed={}", shape.fixed);
  if (shape.nodes > 0) text += fmt::format(" nodes={}", shape.nodes);
  if (!shape.branching.empty()) text += fmt::format(" branching=({})", fmt::join(shape.branching, " "));
  for (const auto& [prefix, weights] : rows) {
    text += fmt::format(" {} p={} q={}", prefix_text(prefix), weights_text(weights.target),
                        weights_text(weights.proposal));
    if (weights.confidence >= 0) text += fmt::format(" c={}", weights.confidence);
  }
  return text;
}

PathInstance PathInstance::parse(std::string_view text) {
  InstanceReader reader(text);
  PathInstance instance{.shape = parse_shape(reader), .rows = {}};
  do {
    const Tokens prefix = reader.numbers("[", "]", static_cast<int>(InstanceReader::most_tokens));
    if (instance.rows.empty() != prefix.empty())
      throw std::invalid_argument("instance: got rows of " + prefix_text(prefix) +
                                  (prefix.empty() ? " again, expected them once" : " first, expected rows of []"));
    if (std::ssize(prefix) > instance.shape.length)
      throw std::invalid_argument(fmt::format("instance: got rows of {}, expected prefixes of at most L={} tokens",
                                              prefix_text(prefix), instance.shape.length));
    reader.expect("p=");
    PrefixWeights weights{.target = reader.weights(), .proposal = {}};
    reader.expect("q=");
    weights.proposal = reader.weights();
    if (reader.starts_with("c=")) weights.confidence = reader.named_number("c", 0, 10);
    if (!instance.rows.emplace(prefix, std::move(weights)).second)
      throw std::invalid_argument("instance: got rows of " + prefix_text(prefix) + " again, expected them once");
  } while (reader.starts_with("["));
  reader.end();
  if (const int size = instance.vocabulary(); prefix_count(size, instance.listed_length()) > most_prefixes)
    throw std::invalid_argument(
        fmt::format("instance: got prefixes of {} tokens with V={}, expected at most {} in all",
                    instance.listed_length(), size, most_prefixes));
  if (!instance.valid())
    throw std::invalid_argument(
        "instance: expected rows of one length, each with a positive weight, after prefixes of their tokens: " +
        instance.text());
  return instance;
}

}  // namespace draftproof
