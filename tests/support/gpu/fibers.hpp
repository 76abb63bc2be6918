// Fibers: cooperative threads that take turns on one thread of the system. Hundreds of fibers can meet at barriers at
// no extra cost, every run has the same schedule, and a missed barrier is an error instead of a hang.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace draftproof::parity {

/// A stack, and the point at which the code on this stack is suspended. Fibers switch by setjmp and longjmp:
/// swapcontext() makes a system call for the signal mask, which would take nine tenths of the time of the tests of
/// plans. Sanitizers support only swapcontext(), so builds with sanitizers use it. Hardened builds refuse a longjmp to
/// another stack, so the unchecked `_longjmp` is called by name.
class Context {
 public:
  /// The first switch to this context runs `start`, which must not return, on a separate stack.
  explicit Context(void (*start)()) : stack_{new char[stack_bytes]} {
    getcontext(&state_);
    state_.uc_stack.ss_sp = stack_.get();
    state_.uc_stack.ss_size = stack_bytes;
    state_.uc_link = nullptr;
    makecontext(&state_, start, 0);  // makecontext passes integers only, so `start` reads current()
  }
  Context() : begun_{true} {}  ///< constructs the context of the running code

  /// Suspends the running code, which is `from`, and resumes `to`.
  static void change(Context& from, Context& to) {
#ifdef DRAFTPROOF_SANITIZED
    swapcontext(&from.state_, &to.state_);
#else
    if (_setjmp(from.place_) != 0) return;
    if (to.begun_) plain_jump(to.place_, 1);
    to.begun_ = true;
    setcontext(&to.state_);
#endif
  }

 private:
  [[noreturn]] static void plain_jump(__jmp_buf_tag*, int) noexcept __asm__("_longjmp");
  static constexpr std::size_t stack_bytes = 256 * 1024;

  std::unique_ptr<char[]> stack_;
  ucontext_t state_;
  jmp_buf place_;
  bool begun_ = false;
};

class Fibers {
 public:
  /// Runs body(i) for i = 0 .. count - 1, concurrently. Throws: the exception of a body; std::logic_error if some
  /// fibers wait for others that have ended.
  void run(int count, std::function<void(int)> body) {
    body_ = std::move(body);
    current() = this;
    fibers_.clear();
    for (int i = 0; i < count; ++i) fibers_.push_back(std::make_unique<Fiber>(i));
    for (int left = count; left > 0;) {
      const auto before = progress_;
      const int had = left;
      for (auto& fiber : fibers_) {
        if (fiber->ended || fiber->waits() || sleeps(fiber->index)) continue;
        running_ = fiber.get();
        Context::change(scheduler_, fiber->context);
        left -= fiber->ended;
      }
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      const bool went_on = left < had || progress_ > before;
      if (!went_on && !someone_sleeps()) throw std::logic_error("lockstep: threads wait for some that have ended");
      put_to_sleep(count, went_on);
    }
  }

  /// May delay the calling fiber by a few rounds; the choice is the same in every run of the program. If the
  /// next barrier is missing, the other fibers overtake the delayed fiber, and the test fails.
  void linger() {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    if ((random_ >> 62) != 0) return;
    for (auto rounds = 1 + (random_ >> 59) % 4; rounds > 0; --rounds) {
      ++progress_;
      yield();
    }
  }

  /// A reusable barrier of `size` fibers.
  class Barrier {
   public:
    explicit Barrier(int size) : size_{size} {}
    void wait(Fibers& fibers) {
      const auto own = round_;
      if (++arrived_ == size_) {
        arrived_ = 0;
        ++round_;
        ++fibers.progress_;
        return;
      }
      Fiber& fiber = *fibers.running_;
      fiber.round = &round_;
      fiber.own_round = own;
      fibers.yield();
      fiber.round = nullptr;
    }

   private:
    int size_, arrived_ = 0;
    std::size_t round_ = 0;
  };

 private:
  struct Fiber {
    explicit Fiber(int i) : index{i}, context{&Fibers::start} {}
    /// Whether the fiber waits at a barrier that other fibers have not reached yet, so that a switch to it would be
    /// wasted.
    bool waits() const { return round && *round == own_round; }

    int index;
    bool ended = false;
    const std::size_t* round = nullptr;
    std::size_t own_round = 0;
    Context context;
  };

  static Fibers*& current() {
    static thread_local Fibers* fibers = nullptr;
    return fibers;
  }
  static std::uint64_t& started() {
    static thread_local std::uint64_t count = 0;
    return count;
  }
  static void start() {
    Fibers& fibers = *current();
    Fiber& own = *fibers.running_;
    try {
      fibers.body_(own.index);
    } catch (...) {
      fibers.failure_ = std::current_exception();
    }
    own.ended = true;
    fibers.yield();
  }
  /// Suspends a range of fibers for 1 to 64 rounds while the other fibers run until they have to wait. The range
  /// imitates a slow warp, which the other warps overtake if a barrier is missing. The choice is the same in every run
  /// of the program. A team takes about a dozen rounds from one exchange of all its threads to the next.
  void put_to_sleep(int count, bool went_on) {
    if (went_on && --rounds_left_ > 0) return;
    first_asleep_ = end_asleep_ = 0;
    rounds_left_ = 1;
    if (!went_on) return;
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    rounds_left_ = 1 + static_cast<int>(random_ >> 58);
    first_asleep_ = static_cast<int>((random_ >> 33) % static_cast<std::uint64_t>(count));
    end_asleep_ = first_asleep_ + static_cast<int>((random_ >> 13) % static_cast<std::uint64_t>(count));
  }
  bool sleeps(int i) const { return first_asleep_ <= i && i < end_asleep_; }
  bool someone_sleeps() const { return first_asleep_ < end_asleep_; }
  void yield() { Context::change(running_->context, scheduler_); }

  std::function<void(int)> body_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* running_ = nullptr;
  Context scheduler_;
  std::size_t progress_ = 0;
  int rounds_left_ = 1;
  std::uint64_t random_ = ++started();  ///< differs by team, so that each team is suspended differently
  int first_asleep_ = 0, end_asleep_ = 0;
  std::exception_ptr failure_;
};

}  // namespace draftproof::parity
