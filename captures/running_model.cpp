#include <draftproof/captures/path_source.hpp>

#include <charconv>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include <draftproof/captures/array.hpp>
#include <draftproof/captures/filter.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/captures/tiny_lm.hpp>
#include <draftproof/sim/random/philox4x32.hpp>
#include <draftproof/sim/random/uniform_source.hpp>

namespace draftproof {

namespace {

/// Texts have 8 to 71 tokens: long enough to have content, short compared with the 512 tokens that the model can read.
constexpr int shortest_text = 8, text_lengths = 64;
/// Tokens of the longest text and the longest path drafted after it (PathSource::longest).
constexpr int needed_context = shortest_text + text_lengths - 1 + 64;
constexpr std::uint32_t text_purpose = 0x6c697665;  // random bits of text generation; drafts and verdicts use others

struct Models {
  TinyLm target, draft;
  Filter target_filter, proposal_filter;
};

/// Returns the token x with u in [F(x - 1), F(x)), where F is the cumulative distribution function.
int sampled(const std::vector<double>& log_distribution, double u) {
  double running = 0;
  for (std::size_t x = 0; x < log_distribution.size(); ++x) {
    running += std::exp(log_distribution[x]);
    if (u < running) return static_cast<int>(x);
  }
  return static_cast<int>(log_distribution.size()) - 1;
}

class LiveContexts final : public StepContexts {
 public:
  LiveContexts(std::shared_ptr<const Models> models, std::uint64_t seed) : models_{std::move(models)}, seed_{seed} {}

  int start(std::uint64_t trial) override {
    forgotten_ += static_cast<int>(nodes_.size());
    nodes_.clear();
    const auto wanted =
        shortest_text + static_cast<int>(philox_pair(seed_, trial, 0, text_purpose).first % text_lengths);
    int node = -1, token = 1;
    for (int i = 0; i < wanted; ++i) {
      node = append(node, token);
      const std::vector<double> distribution = read(node, models_->target, &Node::target);
      token = sampled(distribution,
                      unit_interval(philox_pair(seed_, trial, static_cast<std::uint32_t>(i), text_purpose).second));
      if (i + 1 == wanted) nodes_.back().target_distribution = distribution;
    }
    return forgotten_ + node;
  }
  int forgotten() const override { return forgotten_; }
  int room(int context) const override {
    return models_->target.shape().context - 1 - nodes_[static_cast<std::size_t>(context - forgotten_)].depth;
  }

  const RatioTable& distributions(int context) const override {
    const int index = context - forgotten_;
    Node& node = nodes_[static_cast<std::size_t>(index)];
    if (!node.distributions) {
      if (node.target_distribution.empty()) node.target_distribution = read(index, models_->target, &Node::target);
      const auto draft_row = read(index, models_->draft, &Node::draft);
      node.distributions =
          std::make_unique<RatioTable>(filtered_softmax(node.target_distribution, models_->target_filter),
                                       filtered_softmax(draft_row, models_->proposal_filter));
    }
    return *node.distributions;
  }

  int next(int context, Token x) const override {
    Node& node = nodes_[static_cast<std::size_t>(context - forgotten_)];
    if (node.depth + 1 >= models_->target.shape().context) return no_context;
    const auto [child, fresh] = node.children.try_emplace(x, 0);
    if (fresh) child->second = append(context - forgotten_, x);
    return forgotten_ + child->second;
  }

 private:
  struct Node {
    int parent, token, depth;
    StoryMemory target{}, draft{};
    std::vector<double> target_distribution{};
    std::unique_ptr<RatioTable> distributions{};
    std::map<Token, int> children{};
  };

  int append(int parent, int token) const {
    const int depth = parent < 0 ? 0 : nodes_[static_cast<std::size_t>(parent)].depth + 1;
    nodes_.push_back({.parent = parent, .token = token, .depth = depth});
    return static_cast<int>(nodes_.size()) - 1;
  }

  /// Feeds the token of `node` to `model`, after the tokens of the ancestors that `model` has not read yet. Returns the
  /// log-probabilities [V] of the next token.
  std::vector<double> read(int node, const TinyLm& model, StoryMemory Node::*memory) const {
    Node& here = nodes_[static_cast<std::size_t>(node)];
    std::vector<const StoryMemory*> before(static_cast<std::size_t>(here.depth));
    std::vector<int> unread;
    for (int u = here.parent; u >= 0; u = nodes_[static_cast<std::size_t>(u)].parent) {
      const Node& ancestor = nodes_[static_cast<std::size_t>(u)];
      before[static_cast<std::size_t>(ancestor.depth)] = &(ancestor.*memory);
      if ((ancestor.*memory).keys.empty()) unread.push_back(u);
    }
    for (; !unread.empty(); unread.pop_back()) {
      Node& ancestor = nodes_[static_cast<std::size_t>(unread.back())];
      model.read(ancestor.token, std::span(before).first(static_cast<std::size_t>(ancestor.depth)), ancestor.*memory);
    }
    return model.read(here.token, before, here.*memory);
  }

  std::shared_ptr<const Models> models_;
  std::uint64_t seed_;
  int forgotten_ = 0;               ///< number of nodes of earlier trials; context numbers continue from there
  mutable std::deque<Node> nodes_;  // references to nodes stay valid as the deque grows
};

class RunningModel final : public PathSource {
 public:
  RunningModel(std::string spec, std::string draft, std::shared_ptr<const Models> models, std::uint64_t seed)
      : spec_{std::move(spec)}, draft_{std::move(draft)}, models_{std::move(models)}, seed_{seed} {}

  std::string name() const override { return one_line(spec_); }
  int vocabulary() const override { return models_->target.shape().vocabulary; }
  std::string summary() const override {
    const StoryShape& shape = models_->target.shape();
    return fmt::format("running model of {} layers, width {}, V = {}, drafts by {}; each trial generates a new text",
                       shape.layers, shape.width, shape.vocabulary, draft_);
  }
  nlohmann::json describe() const override {
    return {{"kind", "running_model"},
            {"file", spec_},
            {"draft", draft_},
            {"seed", seed_},
            {"target_filter", to_json(models_->target_filter)},
            {"proposal_filter", to_json(models_->proposal_filter)}};
  }
  std::unique_ptr<StepContexts> open() const override { return std::make_unique<LiveContexts>(models_, seed_); }

 private:
  std::string spec_, draft_;
  std::shared_ptr<const Models> models_;
  std::uint64_t seed_;
};

/// Returns the number after `prefix` in a word such as "q4" or "exit4"; 0 for any other word.
int number_after(std::string_view word, std::string_view prefix) {
  int value = 0;
  if (!word.starts_with(prefix)) return 0;
  const auto [end, error] = std::from_chars(word.data() + prefix.size(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() ? value : 0;
}

TinyLm draft_of(const TinyLm& target, const std::string& word, const std::string& spec) {
  if (const int bits = number_after(word, "q"); bits >= 2 && bits <= 8) return target.rounded(bits);
  if (const int layers = number_after(word, "exit"); layers >= 1 && layers <= target.shape().layers)
    return target.cut(layers);
  throw file_error(spec, "the draft " + in_quotes(word),
                   fmt::format("q2 to q8 (bits), or exit1 to exit{} (layers)", target.shape().layers));
}

}  // namespace

bool is_model_spec(const std::string& spec) {
  return spec.ends_with(".bin") || spec.find(".bin:") != std::string::npos;
}

std::unique_ptr<PathSource> open_running_model(const std::string& spec, const SourceOptions& options) {
  check_filter(options.target_filter, spec + ": target filter");
  check_filter(options.proposal_filter, spec + ": proposal filter");
  const std::size_t colon = spec.ends_with(".bin") ? std::string::npos : spec.rfind(':');
  const std::string word = !options.proposals.empty()   ? options.proposals.front()
                           : colon == std::string::npos ? "q4"
                                                        : spec.substr(colon + 1);
  TinyLm target = TinyLm::open(spec.substr(0, colon));
  if (const int context = target.shape().context; context < needed_context)
    throw file_error(spec, fmt::format("a context of {} tokens", context),
                     fmt::format("at least {}, a text and a path", needed_context));
  TinyLm draft = draft_of(target, word, spec);
  return std::make_unique<RunningModel>(
      spec, word,
      std::make_shared<const Models>(
          Models{std::move(target), std::move(draft), options.target_filter, options.proposal_filter}),
      options.seed);
}

}  // namespace draftproof
