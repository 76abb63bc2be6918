#include <draftproof/properties/components/batch/built_batch.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <numeric>

#include <draftproof/properties/components/batch/batch_case.hpp>
#include <draftproof/properties/instances/shrink_rows.hpp>
#include <draftproof/sim/random/philox.hpp>

namespace draftproof {

namespace {

Token drawn(const std::vector<int>& weights, const StreamAddress& address) {
  Philox words(address.key, (std::uint64_t{address.stream} << 32) | address.position, Philox::Role::draft);
  const auto weight = [&weights](Token x) { return static_cast<double>(weights[static_cast<std::size_t>(x)]); };
  return words.pick(ScaledWeights(static_cast<int>(weights.size()), weight));
}

}  // namespace

std::string BatchRow::text() const {
  return refused ? "refused" : fmt::format("[{}], {} accepted", fmt::join(emitted, " "), accepted);
}

BuiltBatch::BuiltBatch(const BatchCase& one, std::uint32_t turn, const Layout& layout)
    : vocabulary_{one.vocabulary()}, longest_{one.longest()}, pitch_{one.vocabulary() + 1}, pad_{layout.pad} {
  for (const int r : one.order)
    if (layout.only < 0 || r == layout.only) order_.push_back(r);
  if (layout.sorted) std::sort(order_.begin(), order_.end());
  for (const int r : order_) {
    const auto number = static_cast<std::size_t>(r);
    const BatchCaseRequest& request = one.requests[number];
    request_.push_back({.seed = static_cast<std::uint64_t>(std::max(request.seed, 0)),
                        .seeded = request.seed >= 0,
                        .id = layout.numbers.empty() ? static_cast<std::uint32_t>(r) : layout.numbers[number],
                        .position = layout.positions.empty() ? 8 * turn : layout.positions[number],
                        .stop = request.stop,
                        .limit = request.limit});
    length_.push_back(request.drafts());
    drafted_at_.push_back(layout.only < 0 ? r : 0);
  }
  drafted_.resize(one.requests.size());
  for (const int r : order_) {
    StreamAddress at = address(r);
    for (const auto& row : one.requests[static_cast<std::size_t>(r)].proposal) {
      drafted_[static_cast<std::size_t>(r)].push_back(drawn(row, at));
      ++at.position;
    }
  }
  lay_out(one);
  pad_drafts();
}

void BuiltBatch::lay_out(const BatchCase& one) {
  const auto append = [this](std::vector<float>& rows, const std::vector<int>& row) {
    for (const int weight : row) rows.push_back(static_cast<float>(weight));
    rows.resize(rows.size() + static_cast<std::size_t>(pitch_) - row.size(), 1.0F);  // padding 1 shows reads past it
  };
  for (const int r : order_) {
    const BatchCaseRequest& request = one.requests[static_cast<std::size_t>(r)];
    for (std::size_t i = 0; i < request.target.size(); ++i) {
      append(target_, request.target[i]);
      for (std::size_t x = 0; one.masked() && x < request.target[i].size(); ++x)
        mask_.push_back(request.masks.empty() || request.masks[i][x] != 0);
    }
  }
  for (std::size_t r = 0; r < one.requests.size(); ++r)
    if (std::find(order_.begin(), order_.end(), static_cast<int>(r)) != order_.end())
      for (const auto& row : one.requests[r].proposal) append(proposal_, row);
}

void BuiltBatch::pad_drafts() {
  padded_.clear();
  for (const int r : order_) {
    const auto& own = drafted_[static_cast<std::size_t>(r)];
    padded_.insert(padded_.end(), own.begin(), own.end());
    padded_.resize(padded_.size() + static_cast<std::size_t>(longest_) - own.size(), pad_);
  }
}

void BuiltBatch::draft(int request, const std::vector<Token>& tokens) {
  drafted_[static_cast<std::size_t>(request)] = tokens;
  pad_drafts();
}

StreamAddress BuiltBatch::address(int request) const {
  const auto slot = static_cast<std::size_t>(std::find(order_.begin(), order_.end(), request) - order_.begin());
  return view().address(static_cast<int>(slot), 0);
}

std::size_t BuiltBatch::target_row(int request) const {
  std::size_t row = 0;
  for (std::size_t s = 0; order_[s] != request; ++s) row += static_cast<std::size_t>(length_[s]) + 1;
  return row * static_cast<std::size_t>(pitch_);
}

RaggedBatch BuiltBatch::view() const {
  return {.vocabulary = vocabulary_,
          .slots = static_cast<int>(order_.size()),
          .longest = longest_,
          .pitch = pitch_,
          .target = target_.data(),
          .proposal = proposal_.data(),
          .mask = mask_.empty() ? nullptr : mask_.data(),
          .drafts = padded_.data(),
          .length = length_.data(),
          .drafted_at = drafted_at_.data(),
          .request = request_.data(),
          .engine_seed = batch_engine_seed};
}

std::vector<BatchRow> BuiltBatch::run(const BatchRunner& runner, BatchStreams& streams) const {
  return by_request(runner.run(view(), streams));
}

std::vector<BatchRow> BuiltBatch::run(BatchSession& session, BatchStreams& streams) const {
  return by_request(session.run(view(), streams));
}

std::vector<BatchRow> BuiltBatch::by_request(BatchOutput output) const {
  std::vector<BatchRow> rows(drafted_.size());
  for (std::size_t s = 0; s < order_.size(); ++s)
    rows[static_cast<std::size_t>(order_[s])] = {std::move(output.emitted[s]), output.accepted[s],
                                                 bool{output.refused[s]}};
  return rows;
}

std::vector<BatchRow> BuiltBatch::run(const BatchRunner& runner) const {
  BatchStreams streams;
  return run(runner, streams);
}

// The shrinking steps of batches.

std::vector<std::vector<int>*> rows_of(BatchCase& one) {
  std::vector<std::vector<int>*> rows;
  for (BatchCaseRequest& request : one.requests) {
    for (auto& row : request.target) rows.push_back(&row);
    for (auto& row : request.proposal) rows.push_back(&row);
  }
  return rows;
}

namespace {

void drop_request(BatchCase& one, std::size_t r) {
  one.requests.erase(one.requests.begin() + static_cast<std::ptrdiff_t>(r));
  std::erase(one.order, static_cast<int>(r));
  for (int& request : one.order) request -= request > static_cast<int>(r);
}

void drop_draft(BatchCaseRequest& request, std::size_t i) {
  const auto at = static_cast<std::ptrdiff_t>(i);
  request.target.erase(request.target.begin() + at);
  request.proposal.erase(request.proposal.begin() + at);
  if (!request.masks.empty()) request.masks.erase(request.masks.begin() + at);
}

void drop_token_everywhere(BatchCase& one, std::size_t x) {
  for (std::vector<int>* row : rows_of(one)) drop_token(*row, x);
  for (BatchCaseRequest& request : one.requests) {
    for (auto& mask : request.masks) drop_token(mask, x);
    if (request.stop > static_cast<Token>(x)) --request.stop;
  }
}

}  // namespace

std::vector<BatchCase> shrinks(const BatchCase& one) {
  Candidates candidates(one);
  const auto size = static_cast<std::size_t>(one.vocabulary());
  for (std::size_t r = 0; r < one.requests.size(); ++r)
    candidates.add([r](BatchCase& candidate) { drop_request(candidate, r); });
  for (std::size_t r = 0; r < one.requests.size(); ++r)
    for (std::size_t i = 0; i < one.requests[r].proposal.size(); ++i)
      candidates.add([r, i](BatchCase& candidate) { drop_draft(candidate.requests[r], i); });
  for (std::size_t x = 0; x < size && size > 2; ++x)  // keeps two tokens
    candidates.add([x](BatchCase& candidate) { drop_token_everywhere(candidate, x); });
  for (std::size_t x = 0; x + 1 < size && size > 2 && !one.masked(); ++x)
    candidates.add([x](BatchCase& candidate) {
      for (std::vector<int>* row : rows_of(candidate)) merge_tokens(*row, x);
      for (BatchCaseRequest& request : candidate.requests) request.stop -= request.stop > static_cast<Token>(x);
    });
  candidates.add([](BatchCase& candidate) { std::iota(candidate.order.begin(), candidate.order.end(), 0); });
  for (std::size_t r = 0; r < one.requests.size(); ++r) {
    const auto edit = [&](auto change) {
      candidates.add([&](BatchCase& candidate) { change(candidate.requests[r]); });
    };
    edit([](BatchCaseRequest& request) { request.masks.clear(); });
    edit([](BatchCaseRequest& request) { request.stop = no_token; });
    edit([](BatchCaseRequest& request) { request.limit = 0; });
    edit([](BatchCaseRequest& request) { request.seed = -1; });
    edit([r](BatchCaseRequest& request) {
      if (request.seed > static_cast<int>(r)) request.seed = static_cast<int>(r);
    });
    for (std::size_t i = 0; i < one.requests[r].masks.size(); ++i)
      edit([i](BatchCaseRequest& request) { std::fill(request.masks[i].begin(), request.masks[i].end(), 1); });
  }
  candidates.add_smaller_weights(size);
  return candidates.take();
}

}  // namespace draftproof
