// Laws seen by the trials of one batch: what one trial computed is kept for the next, which mostly asks the same.
//
//   n-th mass     residual_mass of the n-th call of a trial: with replacement, the same b in every trial
//   residual      the one last drawn from; a residual that recurs for long enough gets a guide
//
// Cost: a comparison a call where b recurs; where it does not, as without. The comparison is predicted, so a walk
// along b does not wait for its own masses. Right because an answer is given again only for the very same b: tokens
// are those of the laws alone.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include <draftproof/sim/distributions/ratio_table.hpp>
#include <draftproof/sim/position.hpp>

namespace draftproof {

/// What all batches of a decider share. Laws that keep nothing share nothing.
template <class L>
struct Recurring {};

template <>
class Recurring<RatioTable> {
 public:
  const ResidualGuide* guide(double b, double knee) const {
    const Guided* guided = guided_.load(std::memory_order_acquire);
    return guided != nullptr && guided->b == b && guided->knee == knee ? &guided->guide : nullptr;
  }

  /// A batch has drawn from nothing but `residual`, so many times. One guide is made, for what recurs first: a scheme
  /// whose residual depends on the drafts would ask for as many as it has trials.
  void drawn(const RatioTable::Residual& residual, std::uint64_t times, const RatioTable& laws) const {
    if (guided_.load(std::memory_order_relaxed) != nullptr) return;
    // A guide costs about two bisections a cell.
    if (draws_.fetch_add(times, std::memory_order_relaxed) < ResidualGuide::cells_for(laws.order().size())) return;
    const std::unique_lock lock(making_, std::try_to_lock);
    if (!lock || kept_) return;
    kept_ = std::make_unique<const Guided>(Guided{residual.b(), residual.knee(), residual.guide()});
    guided_.store(kept_.get(), std::memory_order_release);
  }

 private:
  struct Guided {
    double b, knee;
    ResidualGuide guide;
  };
  mutable std::atomic<std::uint64_t> draws_{0};
  mutable std::mutex making_;
  mutable std::unique_ptr<const Guided> kept_;
  mutable std::atomic<const Guided*> guided_{nullptr};
};

/// The position of one trial after the other. Laws without a curve worth remembering are seen as they are.
template <class L>
class Recalled {
 public:
  Recalled(const L& laws, const Recurring<L>&) : laws_{laws} {}
  At<L> trial(const Token* drafts, int count) { return {laws_, drafts, count}; }

 private:
  const L& laws_;
};

template <>
class Recalled<RatioTable> {
 public:
  class Seen : public At<RatioTable> {
   public:
    Seen(Recalled& recalled, const Token* drafts, int count)
        : At(recalled.laws_, drafts, count), recalled_{&recalled} {}
    double residual_mass(double b) const { return recalled_->residual_mass(b); }
    RatioTable::Residual residual(double b) const {
      return recalled_->residual(b, std::numeric_limits<double>::infinity());
    }
    RatioTable::Residual clipped(double b, double knee) const { return recalled_->residual(b, knee); }

   private:
    Recalled* recalled_;
  };

  Recalled(const RatioTable& laws, const Recurring<RatioTable>& recurring) : laws_{laws}, recurring_{recurring} {
    for (Mass& mass : masses_) mass.b = std::numeric_limits<double>::quiet_NaN();  // equals nothing
  }
  ~Recalled() {
    if (draws_ > 0 && changes_ == 1) recurring_.drawn(*residual_, draws_, laws_);
  }
  Recalled(const Recalled&) = delete;
  Recalled& operator=(const Recalled&) = delete;

  Seen trial(const Token* drafts, int count) {
    calls_ = 0;
    return {*this, drafts, count};
  }

 private:
  struct Mass {
    double b, mass;
    std::size_t reach;
  };

  double residual_mass(double b) {
    if (calls_ == max_drafts) return laws_.residual_mass(b);
    Mass& known = masses_[calls_++];
    if (known.b != b) {
      known.b = b;
      known.reach = laws_.reach(b);
      known.mass = laws_.residual_mass(b, known.reach);
    }
    return known.mass;
  }

  RatioTable::Residual residual(double b, double knee) {
    ++draws_;
    if (residual_ && residual_->b() == b && residual_->knee() == knee) return *residual_;
    ++changes_;
    const bool walked = std::isinf(knee) && calls_ > 0 && masses_[calls_ - 1].b == b;
    residual_ = walked             ? laws_.residual(b, masses_[calls_ - 1].reach)
                : std::isinf(knee) ? laws_.residual(b)
                                   : laws_.clipped(b, knee);
    residual_->lead(recurring_.guide(b, knee));
    return *residual_;
  }

  const RatioTable& laws_;
  const Recurring<RatioTable>& recurring_;
  Mass masses_[max_drafts];
  int calls_ = 0;
  std::optional<RatioTable::Residual> residual_;
  std::uint64_t draws_ = 0, changes_ = 0;
};

}  // namespace draftproof
