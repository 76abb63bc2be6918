// A user-defined selection policy that keeps the first draft of every request.
#pragma once

#include <draftproof/sim/components/component_info.hpp>
#include <draftproof/sim/components/selection_view.hpp>

namespace mine {

struct FirstDraftsAlone : draftproof::SelectionPolicy {
  static constexpr draftproof::ComponentInfo info{
      .name = "first_drafts_alone", .summary = "one draft a request", .source = "this example"};

  template <class S>
  bool keeps(const draftproof::DraftedRequest<S>&, int u) const {
    return u == 1;
  }
};

}  // namespace mine
