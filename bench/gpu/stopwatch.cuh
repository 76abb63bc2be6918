// Times on a device. Queued work is captured once as a graph and replayed many times, so the time does not include the
// cost of the host's calls.
//
// Each repetition is one event, `plays` replays and another event. The result is the median over repetitions of the
// time per replay. To vary the inputs, a graph captures the work on several inputs, and the caller divides the time by
// their number.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include <draftproof/gpu/device/device_call.cuh>

namespace draftproof::gpu_bench {

using gpu::device_call;

class Stopwatch {
 public:
  Stopwatch() {
    device_call("cudaStreamCreate", cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    device_call("cudaEventCreate", cudaEventCreate(&start_));
    device_call("cudaEventCreate", cudaEventCreate(&stop_));
  }
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaStreamDestroy(stream_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  cudaStream_t stream() const { return stream_; }

  /// Returns the median microseconds of one call of queue(stream), which must be capturable as a CUDA graph.
  template <class Queue>
  double microseconds(const Queue& queue, int repetitions = 9) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t play = nullptr;
    device_call("cudaStreamBeginCapture", cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    queue(stream_);
    device_call("cudaStreamEndCapture", cudaStreamEndCapture(stream_, &graph));
    device_call("cudaGraphInstantiate", cudaGraphInstantiate(&play, graph, 0));
    const double once = timed(play, 1);
    // A repetition takes about two milliseconds, far more than half a microsecond, the resolution of events.
    const int plays = std::clamp(static_cast<int>(2000 / std::max(once, 0.1)), 1, 2000);
    std::vector<double> times;
    for (int i = 0; i < repetitions; ++i) times.push_back(timed(play, plays));
    std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
    device_call("cudaGraphExecDestroy", cudaGraphExecDestroy(play));
    device_call("cudaGraphDestroy", cudaGraphDestroy(graph));
    return times[static_cast<std::size_t>(repetitions / 2)];
  }

 private:
  double timed(cudaGraphExec_t play, int plays) {
    device_call("cudaEventRecord", cudaEventRecord(start_, stream_));
    for (int i = 0; i < plays; ++i) device_call("cudaGraphLaunch", cudaGraphLaunch(play, stream_));
    device_call("cudaEventRecord", cudaEventRecord(stop_, stream_));
    device_call("cudaEventSynchronize", cudaEventSynchronize(stop_));
    float milliseconds = 0;
    device_call("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, start_, stop_));
    return 1000.0 * static_cast<double>(milliseconds) / plays;
  }

  cudaStream_t stream_;
  cudaEvent_t start_, stop_;
};

}  // namespace draftproof::gpu_bench
