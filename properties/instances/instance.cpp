#include <draftproof/properties/instances/instance.hpp>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include <draftproof/properties/instances/instance_text.hpp>

namespace draftproof {

Rows<Rational> Instance::rows() const {
  std::vector<std::vector<Rational>> rows;
  for (const auto& proposal : proposals) rows.push_back(normalised(proposal));
  return {normalised(target), std::move(rows)};
}

bool Instance::valid() const {
  return drafts >= 1 && !proposals.empty() && valid_weights(target, target.size()) &&
         std::all_of(proposals.begin(), proposals.end(),
                     [this](const auto& row) { return valid_weights(row, target.size()); });
}

std::string Instance::text() const {
  std::string text = "p=" + weights_text(target);
  for (const auto& row : proposals) text += " q=" + weights_text(row);
  return fmt::format("{} K={}", text, drafts);
}

Instance Instance::parse(std::string_view text) {
  InstanceReader reader(text);
  Instance instance;
  reader.expect("p=");
  instance.target = reader.weights();
  do {
    reader.expect("q=");
    instance.proposals.push_back(reader.weights());
  } while (reader.starts_with("q="));
  instance.drafts = reader.named_number("K", 1, max_drafts);
  reader.end();
  if (!instance.valid())
    throw std::invalid_argument("instance: expected rows of one length, each with a positive weight: " +
                                instance.text());
  return instance;
}

}  // namespace draftproof
