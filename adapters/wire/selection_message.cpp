#include <draftproof/adapters/wire/selection_message.hpp>

#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <draftproof/captures/input_error.hpp>

namespace draftproof::adapters {
namespace {

AdapterError kept_error(const std::string& found, const std::string& wanted) {
  return AdapterError(fmt::format("result: kept: got {}, expected {}", found, wanted));
}

}  // namespace

nlohmann::json to_fields(const ServedSelection& selection) {
  nlohmann::json fields{{"type", "select"},
                        {"vocabulary", selection.vocabulary},
                        {"budget", selection.budget},
                        {"cost", selection.cost}};
  for (const ServedSelection::Request& request : selection.requests)
    fields["requests"].push_back({{"drafts", request.drafts},
                                  {"parents", request.parents},
                                  {"q", request.q},
                                  {"legal", request.legal},
                                  {"confidence", request.confidence},
                                  {"accepted", request.accepted},
                                  {"past_confidence", request.past_confidence}});
  return fields;
}

ServedSelection read_selection(const nlohmann::json& fields) {
  ServedSelection selection;
  try {
    fields.at("vocabulary").get_to(selection.vocabulary);
    fields.at("budget").get_to(selection.budget);
    fields.at("cost").get_to(selection.cost);
    for (const nlohmann::json& one : fields.at("requests")) {
      ServedSelection::Request& request = selection.requests.emplace_back();
      one.at("drafts").get_to(request.drafts);
      one.at("parents").get_to(request.parents);
      one.at("q").get_to(request.q);
      one.at("legal").get_to(request.legal);
      one.at("confidence").get_to(request.confidence);
      one.at("accepted").get_to(request.accepted);
      one.at("past_confidence").get_to(request.past_confidence);
      const std::size_t n = request.drafts.size();
      if (request.parents.size() != n || request.q.size() != n || request.legal.size() != n ||
          request.confidence.size() != n + 1)
        throw AdapterError(fmt::format("request: requests: got arrays of other lengths than {} drafts", n));
      const auto width = static_cast<std::size_t>(selection.vocabulary);
      for (std::size_t i = 0; i < n; ++i)
        if (request.q[i].size() != width || request.legal[i].size() != width || request.drafts[i] < 0 ||
            request.drafts[i] >= selection.vocabulary || request.parents[i] < -1 ||
            request.parents[i] >= static_cast<std::int32_t>(i))
          throw AdapterError(
              fmt::format("request: requests: draft {}: got a row, a token or a parent out of range", i));
    }
  } catch (const nlohmann::json::exception& error) {
    throw AdapterError(fmt::format("request: select: {}", error.what()));
  }
  return selection;
}

std::vector<std::vector<std::uint8_t>> read_kept(const nlohmann::json& fields, const ServedSelection& selection) {
  const auto found = fields.find("kept");
  if (found == fields.end()) throw kept_error("nothing", "a list for each request");
  if (!found->is_array() || found->size() != selection.requests.size())
    throw kept_error(shown_json(*found), fmt::format("{} lists", selection.requests.size()));
  std::vector<std::vector<std::uint8_t>> kept;
  for (std::size_t r = 0; r < selection.requests.size(); ++r) {
    const std::vector<std::int32_t>& parents = selection.requests[r].parents;
    const nlohmann::json& list = (*found)[r];
    if (!list.is_array() || list.size() != parents.size())
      throw kept_error(shown_json(list), fmt::format("{} flags for request {}", parents.size(), r));
    std::vector<std::uint8_t>& flags = kept.emplace_back();
    for (std::size_t i = 0; i < parents.size(); ++i) {
      if (!(list[i].is_boolean() || list[i] == 0 || list[i] == 1))
        throw kept_error(shown_json(list[i]), fmt::format("0 or 1 for draft {} of request {}", i, r));
      flags.push_back(list[i] == 1 || list[i] == true);
      if (flags.back() && parents[i] >= 0 && !flags[static_cast<std::size_t>(parents[i])])
        throw kept_error(fmt::format("draft {} of request {} without the draft before it", i, r), "its parent too");
    }
  }
  return kept;
}

}  // namespace draftproof::adapters
