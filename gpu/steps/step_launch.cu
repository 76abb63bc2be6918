// Copies batches of steps to device memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <draftproof/gpu/device/device_buffer.cuh>
#include <draftproof/gpu/require_at_least.hpp>
#include <draftproof/gpu/steps.hpp>

namespace draftproof::gpu {
namespace {

template <class Entry>
const StepBatch<Entry>& checked(const StepBatch<Entry>& host, std::int64_t rows) {
  require_at_least("steps", "requests", host.requests, 0);
  require_at_least("steps", "vocabulary", host.vocabulary, 1);
  require_at_least("steps", "target_stride", host.target_stride, 0);
  require_at_least("steps", "proposal_stride", host.proposal_stride, 0);
  for (int i = 0; i < host.requests; ++i) {
    const TreeSpan& span = host.trees[i];
    for (int u = 0; u < span.size; ++u) {
      const std::int64_t row = span.first_row + host.nodes[span.first_node + u].context;
      if (row < 0 || row >= rows)
        throw std::invalid_argument("steps: request " + std::to_string(i) + ": node " + std::to_string(u) +
                                    ": the row: got " + std::to_string(row) + ", expected a row below " +
                                    std::to_string(rows));
    }
  }
  return host;
}

std::size_t nodes_of(const TreeSpan* trees, int requests) {
  std::int64_t most = 0;
  for (int i = 0; i < requests; ++i) most = std::max(most, trees[i].first_node + trees[i].size);
  return static_cast<std::size_t>(most);
}

/// The number of draws of all trees. Every node except a root was drawn at least once, so the greatest index of a
/// last draw gives the end.
template <class Entry>
std::size_t draws_of(const StepBatch<Entry>& host) {
  std::int64_t most = 0;
  for (int i = 0; i < host.requests; ++i)
    for (int u = 0; u < host.trees[i].size; ++u)
      most = std::max(most, host.trees[i].first_draw + host.nodes[host.trees[i].first_node + u].last_draw + 1);
  return static_cast<std::size_t>(most);
}

std::size_t extent(std::int64_t rows, std::int64_t stride, std::int64_t length) {
  return rows == 0 ? 0 : static_cast<std::size_t>((rows - 1) * stride + length);
}

std::vector<DeviceCarry> carries_of(const DeviceCarry* carries, int requests) {
  std::vector<DeviceCarry> all(static_cast<std::size_t>(requests));
  if (carries != nullptr) std::copy(carries, carries + requests, all.begin());
  return all;
}

}  // namespace

template <class Entry>
struct DeviceSteps<Entry>::Buffers {
  Buffers(const StepBatch<Entry>& host, std::int64_t rows)
      : trees{host.trees, static_cast<std::size_t>(host.requests)},
        nodes{host.nodes, nodes_of(host.trees, host.requests)},
        draws{host.draws, draws_of(host)},
        target{host.target, extent(rows, host.target_stride, host.vocabulary)},
        proposal{host.proposal, extent(rows, host.proposal_stride, host.vocabulary)},
        steps{nullptr, static_cast<std::size_t>(host.requests)},
        carries{carries_of(host.carries, host.requests).data(), static_cast<std::size_t>(host.requests)},
        view{host} {
    view.trees = trees.data();
    view.nodes = nodes.data();
    view.draws = draws.data();
    view.target = target.data();
    view.proposal = proposal.data();
    view.steps = steps.data();
    view.carries = carries.data();
  }

  DeviceBuffer<TreeSpan> trees;
  DeviceBuffer<TreeNode> nodes;
  DeviceBuffer<TreeDraw> draws;
  DeviceBuffer<Entry> target, proposal;
  DeviceBuffer<StepOutput> steps;
  DeviceBuffer<DeviceCarry> carries;
  StepBatch<Entry> view;
};

template <class Entry>
DeviceSteps<Entry>::DeviceSteps(const StepBatch<Entry>& host, std::int64_t rows)
    : buffers_{std::make_unique<Buffers>(checked(host, rows), rows)} {}
template <class Entry>
DeviceSteps<Entry>::~DeviceSteps() = default;
template <class Entry>
DeviceSteps<Entry>::DeviceSteps(DeviceSteps&&) noexcept = default;
template <class Entry>
DeviceSteps<Entry>& DeviceSteps<Entry>::operator=(DeviceSteps&&) noexcept = default;

template <class Entry>
const StepBatch<Entry>& DeviceSteps<Entry>::view() const {
  return buffers_->view;
}

template <class Entry>
StepResults DeviceSteps<Entry>::results() const {
  device_call("cudaDeviceSynchronize", cudaDeviceSynchronize());
  StepResults results;
  results.steps = buffers_->steps.copy();
  results.carries = buffers_->carries.copy();
  for (std::size_t i = 0; i < results.steps.size(); ++i)
    if (results.steps[i].extra.token == no_token) results.unserved.push_back(i);
  return results;
}

template class DeviceSteps<float>;
template class DeviceSteps<double>;
template class DeviceSteps<Bfloat16>;
template class DeviceSteps<Half>;

}  // namespace draftproof::gpu
