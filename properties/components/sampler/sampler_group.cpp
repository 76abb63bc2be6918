#include <draftproof/properties/components/sampler/sampler_group.hpp>
#include <draftproof/properties/instances/generator.hpp>

#include <fmt/format.h>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <draftproof/properties/instances/instance_text.hpp>
#include <draftproof/properties/instances/shrink_rows.hpp>

namespace draftproof {

namespace {

/// Largest accepted V and gap of logits. Larger V exceed the vocabularies of models, and their tables exhaust memory.
constexpr int longest_row = 1 << 20, widest_gap = 100;

std::vector<double> zipf_row(int size) {
  std::vector<double> row;
  for (int rank = 0; rank < size; ++rank) row.push_back(std::pow(rank + 2.7, -1.1));
  InstanceRng dice(1, 0);  // fixed seed: all cases have the same order, on which float sums depend
  for (int x = size - 1; x > 0; --x)
    std::swap(row[static_cast<std::size_t>(x)], row[static_cast<std::size_t>(dice.between(0, x))]);
  const double total = std::accumulate(row.begin(), row.end(), 0.0);
  for (double& weight : row) weight /= total;
  return row;
}

}  // namespace

std::vector<double> SamplerCase::row() const {
  if (form == Form::zipf) return zipf_row(size);
  if (form == Form::listed) return {weights.begin(), weights.end()};
  std::vector<double> row(static_cast<std::size_t>(size), std::exp(-gap));
  row.front() = 1;
  return row;
}

bool SamplerCase::valid() const {
  if (form == Form::listed) return !weights.empty() && valid_weights(weights, weights.size());
  return size >= 2 && size <= longest_row && gap >= 0 && gap <= widest_gap;
}

std::string SamplerCase::text() const {
  if (form == Form::listed) return "w=" + weights_text(weights);
  return form == Form::zipf ? fmt::format("zipf V={}", size) : fmt::format("tail V={} gap={}", size, gap);
}

SamplerCase SamplerCase::parse(std::string_view text) {
  InstanceReader reader(text);
  SamplerCase one;
  if (reader.accept("zipf")) {
    one.form = Form::zipf;
    one.size = reader.named_number("V", 2, longest_row);
  } else if (reader.accept("tail")) {
    one.form = Form::tail;
    one.size = reader.named_number("V", 2, longest_row);
    one.gap = reader.named_number("gap", 0, widest_gap);
  } else {
    reader.expect("w=");
    one.weights = reader.weights();
  }
  reader.end();
  if (!one.valid())
    throw std::invalid_argument(fmt::format("instance: got \"{}\", expected weights such as \"{}\"", text, example));
  return one;
}

std::vector<std::vector<int>*> rows_of(SamplerCase& one) { return {&one.weights}; }

std::vector<SamplerCase> shrinks(const SamplerCase& one) {
  if (one.form != SamplerCase::Form::listed) return {};
  Candidates candidates(one);
  const std::size_t shorter = one.weights.size() > 2 ? one.weights.size() : 0;  // with one token there is no decision
  for (std::size_t x = 0; x < shorter; ++x) candidates.add_to_all_rows([x](auto& row) { drop_token(row, x); });
  for (std::size_t x = 0; x + 1 < shorter; ++x) candidates.add_to_all_rows([x](auto& row) { merge_tokens(row, x); });
  candidates.add_smaller_weights(one.weights.size());
  return candidates.take();
}

}  // namespace draftproof
