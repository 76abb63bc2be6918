// A copy of all inputs of a batch, for a comparison later. Rows are compared bit for bit, padding between rows
// included.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <draftproof/properties/components/batch/built_batch.hpp>

namespace draftproof {

class BatchInputs {
 public:
  explicit BatchInputs(const RaggedBatch& batch) {
    std::size_t drafts = 0;
    for (int s = 0; s < batch.slots; ++s) drafts += static_cast<std::size_t>(batch.length[s]);
    const auto rows = drafts + static_cast<std::size_t>(batch.slots), pitch = static_cast<std::size_t>(batch.pitch);
    keep("target rows", batch.target, rows * pitch);
    keep("proposal rows", batch.proposal, drafts * pitch);
    if (batch.mask) keep("masks", batch.mask, rows * static_cast<std::size_t>(batch.vocabulary));
    keep("drafts", batch.drafts, static_cast<std::size_t>(batch.slots * batch.longest));
    keep("lengths", batch.length, static_cast<std::size_t>(batch.slots));
    keep("order of drafting", batch.drafted_at, static_cast<std::size_t>(batch.slots));
  }

  /// The first input that is no longer what it was, by name and entry; nothing if all are.
  std::optional<std::string> difference() const {
    for (const Kept& kept : inputs_)
      for (std::size_t byte = 0; byte < kept.bytes.size(); ++byte)
        if (static_cast<const unsigned char*>(kept.at)[byte] != kept.bytes[byte])
          return fmt::format("entry {} of the {} has changed", byte / kept.entry, kept.name);
    return std::nullopt;
  }

 private:
  struct Kept {
    const char* name;
    const void* at;
    std::size_t entry;  ///< bytes
    std::vector<unsigned char> bytes;
  };

  template <class Entry>
  void keep(const char* name, const Entry* at, std::size_t count) {
    Kept kept{name, at, sizeof(Entry), std::vector<unsigned char>(count * sizeof(Entry))};
    if (count > 0) std::memcpy(kept.bytes.data(), at, kept.bytes.size());
    inputs_.push_back(std::move(kept));
  }

  std::vector<Kept> inputs_;
};

}  // namespace draftproof
