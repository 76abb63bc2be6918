// The shrinking steps of batches.
#include <algorithm>
#include <numeric>

#include <draftproof/properties/components/batch/batch_case.hpp>
#include <draftproof/properties/instances/shrink_rows.hpp>

namespace draftproof {

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
  for (std::size_t x = 0; x < size && size > 2; ++x)  // with one token there is no decision
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
