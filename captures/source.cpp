#include <draftproof/captures/source.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <filesystem>
#include <span>

#include <fmt/format.h>

#include <draftproof/captures/array.hpp>
#include <draftproof/captures/capture.hpp>
#include <draftproof/captures/family.hpp>
#include <draftproof/captures/nearest_names.hpp>
#include <draftproof/captures/philox_engine.hpp>
#include <draftproof/sim/random/uniform_source.hpp>
#include <draftproof/sim/token.hpp>

namespace draftproof {

struct Source::Rows {
  std::string name;
  std::vector<std::string> proposals;
  std::size_t positions = 0, vocabulary = 0;

  Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  virtual ~Rows() = default;

  /// Returns the distributions of row i. Proposal k is the k-th chosen proposal after filter k; if only one proposal is
  /// chosen, every filter is applied to it.
  virtual RowPair pair(std::size_t i, const Filter& target, std::span<const Filter> filters) const = 0;
  virtual nlohmann::json describe() const = 0;
};

namespace {

/// Returns one filter per proposal. With draft temperatures, which require a single proposal, returns one filter per
/// temperature.
std::vector<Filter> filters_of(const SourceOptions& options, const std::vector<std::string>& proposals,
                               const std::string& who) {
  if (options.draft_temperatures.empty()) return std::vector(proposals.size(), options.proposal_filter);
  if (proposals.size() != 1)
    throw file_error(who, fmt::format("draft temperatures for {} proposals", proposals.size()),
                     fmt::format("one proposal of {}", fmt::join(proposals, ", ")));
  std::vector<Filter> filters;
  for (const double temperature : options.draft_temperatures) {
    filters.push_back(options.proposal_filter);
    filters.back().temperature = temperature;
  }
  return filters;
}

void check_draft_temperatures(const SourceOptions& options, const std::string& who) {
  const auto& temperatures = options.draft_temperatures;
  if (temperatures.empty()) return;
  if (temperatures.size() > static_cast<std::size_t>(max_drafts))
    throw file_error(who, fmt::format("{} draft temperatures", temperatures.size()),
                     fmt::format("at most {}, one for each draft", max_drafts));
  for (const double temperature : temperatures)
    check_filter({.temperature = temperature}, who + ": draft temperatures");
  if (options.proposal_filter.temperature != 1)
    throw file_error(
        who, fmt::format("proposal temperature {} beside draft temperatures", options.proposal_filter.temperature),
        "one or the other");
}

struct CaptureRows final : Source::Rows {
  CaptureRows(const std::filesystem::path& path, const std::vector<std::string>& chosen, const SourceOptions& options)
      : capture(Capture::open(path)) {
    name = one_line(path.stem().string());
    proposals = chosen.empty() ? std::vector{capture.proposals().front()} : chosen;
    for (const std::string& proposal : proposals) capture.require_proposal(proposal);
    // Sources of one file with different proposals have different names.
    if (!chosen.empty() && capture.proposals().size() > 1)
      name += one_line(fmt::format(":{}", fmt::join(proposals, ",")));
    positions = capture.positions();
    vocabulary = capture.vocabulary();
    // A truncated capture takes no filter. Reading row 0 here reports a filter when the capture is opened.
    if (capture.truncated()) pair(0, options.target_filter, filters_of(options, proposals, name));
  }

  RowPair pair(std::size_t i, const Filter& target, std::span<const Filter> filters) const final {
    RowPair rows{capture.target(i, target), {}};
    for (std::size_t k = 0; k < filters.size(); ++k)
      rows.proposals.push_back(capture.proposal(proposals[proposals.size() == 1 ? 0 : k], i, filters[k]));
    return rows;
  }

  nlohmann::json describe() const override {
    return {{"kind", "capture"},
            {"file", capture.file()},
            {"values", to_string(capture.values())},
            {"truncated", capture.truncated()},
            {"metadata", capture.metadata()}};
  }

  Capture capture;
};

struct FamilyRows final : Source::Rows {
  FamilyRows(std::string_view spec, const std::vector<std::string>& chosen, std::uint64_t seed_of_rows)
      : family(parse_family(spec)), seed(seed_of_rows) {
    name = std::string(spec);
    std::vector<std::string> known;
    for (std::size_t d = 1; d <= family.drafts; ++d)
      known.push_back(family.drafts == 1 ? "draft" : fmt::format("draft_{}", d));
    proposals = chosen.empty() ? known : chosen;
    for (const std::string& proposal : proposals) {
      const auto place = std::find(known.begin(), known.end(), proposal);
      if (place == known.end())
        throw file_error(name, "no proposal " + in_quotes(proposal),
                         fmt::format("one of {}", fmt::join(known, ", ")));
      columns.push_back(static_cast<std::size_t>(place - known.begin()));
    }
    positions = family.positions;
    vocabulary = family.vocabulary;
  }

  RowPair pair(std::size_t i, const Filter& target, std::span<const Filter> filters) const final {
    RowPair all = family.pair(seed, i);
    RowPair rows{filtered_distribution(std::move(all.target), target), {}};
    for (std::size_t k = 0; k < filters.size(); ++k)
      rows.proposals.push_back(
          filtered_distribution(all.proposals[columns[columns.size() == 1 ? 0 : k]], filters[k]));
    return rows;
  }

  nlohmann::json describe() const override {
    nlohmann::json description = family.describe();
    description["kind"] = "family";
    description["seed"] = seed;
    return description;
  }

  Family family;
  std::uint64_t seed;
  std::vector<std::size_t> columns;
};

struct PathSpec {
  std::string path;
  std::vector<std::string> proposals;
};

bool looks_like_path(std::string_view text) {
  constexpr std::array<std::string_view, 3> suffixes{".npz", ".npy", ".safetensors"};
  return std::any_of(suffixes.begin(), suffixes.end(), [text](std::string_view s) { return text.ends_with(s); }) ||
         std::filesystem::is_regular_file(text);
}

std::vector<std::string> split_at_commas(std::string_view list) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

/// Splits off `:draft,draft...`. The path is empty if `spec` is not a path.
PathSpec parse_path(std::string_view spec) {
  if (looks_like_path(spec)) return {std::string(spec), {}};
  const std::size_t colon = spec.rfind(':');
  if (colon == std::string_view::npos || !looks_like_path(spec.substr(0, colon))) return {};
  return {std::string(spec.substr(0, colon)), split_at_commas(spec.substr(colon + 1))};
}

std::shared_ptr<const Source::Rows> open_rows(std::string_view spec, const SourceOptions& options) {
  const PathSpec path = parse_path(spec);
  if (!path.proposals.empty() && !options.proposals.empty())
    throw file_error(std::string(spec), fmt::format("proposals {}", fmt::join(path.proposals, ",")),
                     "none beside --proposal");
  if (!path.path.empty())
    return std::make_shared<CaptureRows>(path.path, options.proposals.empty() ? path.proposals : options.proposals,
                                         options);
  if (is_family_spec(spec)) return std::make_shared<FamilyRows>(spec, options.proposals, options.seed);
  std::vector<std::string> families;
  for (const FamilyInfo& info : known_families()) families.push_back(info.name);
  throw file_error(std::string(spec), "neither a file nor a family",
                   fmt::format("a .npz, .safetensors or .npy file, or one of {}{}", fmt::join(families, ", "),
                               did_you_mean(families, spec.substr(0, spec.find(':')))));
}

}  // namespace

Source Source::open(std::string_view spec, const SourceOptions& options) {
  const std::string text(spec);
  check_filter(options.target_filter, text + ": target filter");
  check_filter(options.proposal_filter, text + ": proposal filter");
  check_draft_temperatures(options, text);
  return Source(open_rows(spec, options), options);
}

Source::Source(std::shared_ptr<const Rows> rows, const SourceOptions& options)
    : rows_(std::move(rows)),
      target_filter_(options.target_filter),
      proposal_filter_(options.proposal_filter),
      draft_temperatures_(options.draft_temperatures),
      selection_(options.selection),
      seed_(options.seed),
      names_(rows_->proposals),
      filters_(filters_of(options, names_, rows_->name)) {
  for (std::string& name : names_) name = one_line(name);
  selection_.end = std::min<std::uint64_t>(selection_.end, rows_->positions);
  if (selection_.first >= selection_.end && selection_ != Selection{.end = rows_->positions})
    throw file_error(rows_->name, fmt::format("positions {}:{}", selection_.first, options.selection.end),
                     fmt::format("a range of its {} positions, from 0", rows_->positions));
  selection_.sample = std::min(selection_.sample, selection_.end - selection_.first);
  if (draft_temperatures_.empty()) return;
  const std::string draft = names_.front();
  names_.clear();
  for (const double temperature : draft_temperatures_) names_.push_back(fmt::format("{}@{}", draft, temperature));
}

const std::string& Source::name() const { return rows_->name; }
std::size_t Source::positions() const {
  return static_cast<std::size_t>(selection_.sample > 0 ? selection_.sample : selection_.end - selection_.first);
}
std::size_t Source::address(std::size_t i) const {
  assert(i < positions());
  if (selection_.sample == 0) return static_cast<std::size_t>(selection_.first + i);
  const std::uint64_t length = selection_.end - selection_.first, wide = length / selection_.sample,
                      more = length % selection_.sample;
  const auto start = [&](std::uint64_t j) { return wide * j + std::min(j, more); };
  constexpr std::uint32_t stream = 0xFFFF;  // the rows of a family use lower stream numbers
  const std::uint64_t word = PhiloxEngine(seed_, i, stream)();
  return static_cast<std::size_t>(selection_.first + start(i) + scale(word, start(i + 1) - start(i)));
}
std::size_t Source::vocabulary() const { return rows_->vocabulary; }
const std::vector<std::string>& Source::proposal_names() const { return names_; }

RowPair Source::pair(std::size_t i) const { return rows_->pair(address(i), target_filter_, filters_); }

nlohmann::json Source::describe() const {
  nlohmann::json description = rows_->describe();
  description["name"] = name();
  description["positions"] = positions();
  description["vocabulary"] = vocabulary();
  description["proposals"] = proposal_names();
  if (selection_ != Selection{.end = rows_->positions})
    description["selection"] = {{"of", rows_->positions},
                                {"first", selection_.first},
                                {"end", selection_.end},
                                {"sample", selection_.sample}};
  description["target_filter"] = to_json(target_filter_);
  description["proposal_filter"] = to_json(proposal_filter_);
  if (!draft_temperatures_.empty()) {
    description["proposal_filter"].erase("temperature");  // each draft has its own temperature
    description["draft_temperatures"] = draft_temperatures_;
  }
  return description;
}

}  // namespace draftproof
