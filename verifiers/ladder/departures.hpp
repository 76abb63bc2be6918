// The heap of a sweep (level_sweep.hpp): breaks by the times at which they leave, the next one on top.
#pragma once

#include <cstddef>

#include <draftproof/sim/device/host_device.hpp>

namespace draftproof::detail {

/// A binary heap of times with the least on top, ties by index. `List` must be large enough for all events.
template <class Scalar, template <class> class List>
class Departures {
 public:
  struct Event {
    Scalar time;
    int index;
    DRAFTPROOF_DEVICE bool before(const Event& other) const {
      return time < other.time || (time == other.time && index < other.index);
    }
  };

  DRAFTPROOF_DEVICE explicit Departures(List<Event>& events) : events_{events} {}

  DRAFTPROOF_DEVICE bool empty() const { return size_ == 0; }
  DRAFTPROOF_DEVICE const Event& top() const { return events_[0]; }
  DRAFTPROOF_DEVICE void push(Event event) {
    std::size_t i = size_++;
    for (; i > 0 && event.before(events_[(i - 1) / 2]); i = (i - 1) / 2) events_[i] = events_[(i - 1) / 2];
    events_[i] = event;
  }
  DRAFTPROOF_DEVICE void pop() {
    const Event last = events_[--size_];
    if (size_ > 0) replace_top(last);
  }
  DRAFTPROOF_DEVICE void replace_top(const Event& event) {
    std::size_t i = 0;
    for (std::size_t child; (child = 2 * i + 1) < size_; i = child) {
      if (child + 1 < size_) child += events_[child + 1].before(events_[child]);
      if (!events_[child].before(event)) break;
      events_[i] = events_[child];
    }
    events_[i] = event;
  }

 private:
  List<Event>& events_;
  std::size_t size_ = 0;
};

}  // namespace draftproof::detail
