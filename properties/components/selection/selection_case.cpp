#include <draftproof/properties/components/selection/selection_case.hpp>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/properties/instances/generator.hpp>
#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/instances/shrink_rows.hpp>

namespace draftproof {

namespace {

constexpr std::size_t most_requests = 4, most_listed = 64;
constexpr int saturated = 10, most_cost = 1000, most_budget = 1000;

bool right_request(const SelectionCaseRequest& request) {
  const PathInstance& model = request.model;
  if (!model.valid() || model.shape.stem > 0 || !model.shape.branching.empty()) return false;
  if (request.accepted < 0 || request.accepted > model.shape.length || std::ssize(request.past) > model.shape.length)
    return false;
  return std::all_of(model.rows.begin(), model.rows.end(), [&model](const auto& entry) {
    const auto& row = entry.second.proposal;
    return std::count_if(row.begin(), row.end(), [](int weight) { return weight > 0; }) >= model.shape.drafts;
  });
}

/// Removes the part of a request from " NAME=" on, and returns it.
std::string_view cut_from(std::string_view& text, std::string_view name) {
  const auto at = text.find(name);
  if (at == text.npos) return {};
  const std::string_view part = text.substr(at);
  text = text.substr(0, at);
  return part;
}

SelectionCaseRequest read_request(std::string_view text) {
  const std::string_view past = cut_from(text, " past="), accepted = cut_from(text, " accepted=");
  SelectionCaseRequest request{.model = PathInstance::parse(text)};
  if (!accepted.empty()) {
    InstanceReader reader(accepted);
    request.accepted = reader.named_number("accepted", 0, PathInstance::most_length);
    reader.end();
  }
  if (!past.empty()) {
    InstanceReader reader(past);
    reader.expect("past=");
    request.past = reader.numbers("(", ")", saturated);
    reader.end();
  }
  return request;
}

}  // namespace

bool SelectionCase::chains() const {
  return std::all_of(requests.begin(), requests.end(), [](const auto& request) { return request.chain(); });
}

bool SelectionCase::valid() const {
  const auto in_range = [](int tenths) { return tenths > 0 && tenths <= most_cost; };
  return !requests.empty() && requests.size() <= most_requests && budget >= 0 && budget <= most_budget &&
         cost.size() <= most_listed && std::all_of(cost.begin(), cost.end(), in_range) &&
         std::all_of(requests.begin(), requests.end(), right_request);
}

std::string SelectionCase::text() const {
  std::string text = fmt::format("budget={}", budget);
  if (!cost.empty()) text += fmt::format(" cost=({})", fmt::join(cost, " "));
  for (const SelectionCaseRequest& request : requests) {
    text += " | " + request.model.text();
    if (request.accepted > 0) text += fmt::format(" accepted={}", request.accepted);
    if (!request.past.empty()) text += fmt::format(" past=({})", fmt::join(request.past, " "));
  }
  return text;
}

SelectionCase SelectionCase::parse(std::string_view text) {
  SelectionCase one;
  std::string_view rest = text;
  const auto next = [&rest] {
    const auto end = rest.find('|');
    const std::string_view part = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    return part;
  };
  InstanceReader header(next());
  one.budget = header.named_number("budget", 0, most_budget);
  if (header.accept("cost=")) one.cost = header.numbers("(", ")", most_cost);
  header.end();
  while (!rest.empty()) one.requests.push_back(read_request(next()));
  if (!one.valid())
    throw std::invalid_argument(
        fmt::format("instance: got \"{}\", expected a batch of 1 to {} requests whose rows of q have at least K "
                    "tokens, such as \"{}\"",
                    text, most_requests, example));
  return one;
}

std::vector<std::vector<int>*> rows_of(SelectionCase& one) {
  std::vector<std::vector<int>*> rows;
  for (auto& request : one.requests)
    for (auto* row : rows_of(request.model)) rows.push_back(row);
  return rows;
}

std::vector<SelectionCase> shrinks(const SelectionCase& one) {
  Candidates candidates(one);
  for (std::size_t r = 0; r < one.requests.size(); ++r)
    candidates.add([r](SelectionCase& c) { c.requests.erase(c.requests.begin() + static_cast<std::ptrdiff_t>(r)); });
  candidates.add([](SelectionCase& c) { c.cost.clear(); });
  candidates.add([](SelectionCase& c) {
    for (auto& request : c.requests) request.past.clear(), request.accepted = 0;
  });
  for (const int fewer : {one.budget / 2, one.budget - 1})
    candidates.add([fewer](SelectionCase& c) { c.budget = fewer; });
  for (std::size_t r = 0; r < one.requests.size(); ++r) {
    for (PathInstance& smaller : shrinks(one.requests[r].model))
      candidates.add([&](SelectionCase& c) {
        const auto length = static_cast<std::size_t>(smaller.shape.length);
        auto& request = c.requests[r];
        request.past.resize(std::min(request.past.size(), length));
        request.accepted = std::min(request.accepted, smaller.shape.length);
        request.model = std::move(smaller);
      });
    for (const auto& entry : one.requests[r].model.rows)
      for (const int simpler : {-1, saturated, 0, saturated / 2}) {
        // Tries only the values before the current one in this list, so that shrinking terminates.
        if (simpler == entry.second.confidence) break;
        candidates.add([&](SelectionCase& c) { c.requests[r].model.rows.at(entry.first).confidence = simpler; });
      }
    candidates.add([r](SelectionCase& c) { c.requests[r].past.clear(); });
    candidates.add([r](SelectionCase& c) { c.requests[r].accepted = 0; });
  }
  candidates.add([](SelectionCase& c) { c.cost.resize(c.cost.empty() ? 0 : c.cost.size() - 1); });
  for (std::size_t k = 0; k < one.cost.size(); ++k)
    candidates.add([k](SelectionCase& c) { c.cost[k] = std::min(c.cost[k], saturated); });
  return candidates.take();
}

SelectionCase generate_selection_case(std::uint64_t seed, int n) {
  InstanceRng dice(seed, static_cast<std::uint64_t>(n));
  const bool tree = n % 5 == 4, batch = n % 5 != 0 && !tree;
  // Confidences at the first position are saturated (1) in most cases with only a budget, so that survival
  // probabilities tie. They are lower in cases with costs, so that throughput may fall with the first drafts and rise
  // with more.
  const bool costs = dice.chance(1, 2);
  const auto confidence = [&](bool first) {
    constexpr int below[]{0, 3, 5, 8};
    if (first && costs) return dice.chance(2, 3) ? saturated / 2 : below[dice.between(1, 3)];
    return dice.chance(first ? 9 : 5, 10) ? saturated : below[dice.between(0, 3)];
  };
  SelectionCase one;
  int drafts = 0;
  const int requests = batch ? dice.chance(1, 8) ? 3 : 2 : 1;
  for (int r = 0; r < requests; ++r) {
    SelectionCaseRequest request;
    TreeShape& shape = request.model.shape;
    shape.drafts = tree ? 2 : 1;
    shape.length = requests == 3 ? 1 : dice.chance(7, 8) ? 2 : 1;
    // Uses three tokens only if the requests have few joint sequences.
    const bool few = shape.length == 1 ? requests < 3 : !tree && !batch;
    const int size = few ? dice.between(2, 3) : 2;
    const bool context = dice.chance(1, 2);
    const auto row = [&](int support, int zeros) {  // `zeros` is a percentage
      std::vector<int> weights;
      for (int x = 0; x < size; ++x) weights.push_back(dice.chance(zeros, 100) ? 0 : dice.between(1, 5));
      repair_weights(weights, support, dice);
      return weights;
    };
    for (Tokens& prefix : prefixes_up_to(size, shape.length)) {
      PrefixWeights rows =
          context || prefix.empty() ? PrefixWeights{row(1, 20), row(shape.drafts, 8)} : request.model.after(prefix);
      rows.confidence = confidence(prefix.empty());
      request.model.rows.emplace(std::move(prefix), std::move(rows));
    }
    for (int depth = 0; depth < shape.length; ++depth) drafts += tree ? 2 << depth : 1;
    request.accepted = dice.between(0, shape.length);
    for (int j = 0; j < shape.length; ++j) request.past.push_back(confidence(false));
    one.requests.push_back(std::move(request));
  }
  one.budget = costs ? drafts : dice.between(1, std::max(1, drafts / 2));
  if (costs) {
    // The first draft makes a verification more expensive; most later drafts add no cost.
    one.cost.push_back(saturated);
    for (int k = 0; k < drafts; ++k)
      one.cost.push_back(one.cost.back() + (k > 0 && dice.chance(3, 4) ? 0 : dice.between(4, 9)));
  }
  return one;
}

}  // namespace draftproof
