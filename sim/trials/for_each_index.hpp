// A loop whose calls share the processors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace draftproof {

/// Returns `asked`, or the number of processors that the system reports if that is 0; at least 1.
inline int threads_of(int asked) {
  return asked > 0 ? asked : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// Calls work(i) for every i < count on threads_of(threads) threads. Once stopped() is true, no call begins. Returns 1
/// for each i whose call ended before that.
/// Throws: the exception of the least i whose call threw, after all calls. Without a stop, this i does not depend on
/// the threads.
template <class Stopped, class Work>
std::vector<char> for_each_index(std::size_t count, int threads, Stopped&& stopped, Work&& work) {
  std::vector<char> done(count, 0);
  std::vector<std::exception_ptr> failures(count);
#pragma omp parallel for schedule(dynamic) num_threads(threads_of(threads))
  for (std::size_t i = 0; i < count; ++i) {
    if (stopped()) continue;
    try {
      work(i);
      done[i] = !stopped();
    } catch (...) {
      failures[i] = std::current_exception();
    }
  }
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return done;
}

}  // namespace draftproof
