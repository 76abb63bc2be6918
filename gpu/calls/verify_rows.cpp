// Runs a verifier, given by name, on a device or on the host. The kernels of verifiers are compiled in the library
// draftproof::gpu; their host forms are compiled in this file.
#include <draftproof/gpu/calls/verify_rows.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <draftproof/found/kernel_verifiers.hpp>
#include <draftproof/gpu/launch.hpp>
#include <draftproof/sim/distributions/plain_rows.hpp>
#include <draftproof/sim/distributions/streamed_rows.hpp>
#include <draftproof/sim/random/philox.hpp>
#include <draftproof/sim/verifier.hpp>

namespace draftproof {
namespace {

constexpr int fine = 0, bad_input = 2, no_kernel_here = 3, device_failed = 4;

static_assert(sizeof(Verdict) == 2 * sizeof(std::int32_t) && std::is_same_v<Token, std::int32_t>);

template <class V>
constexpr bool has_kernel = V::info.unsupported.device.empty() && V::info.unsupported.fresh.empty();

void tell(const std::string& text, char* out, std::size_t size) {
  if (out == nullptr || size == 0) return;
  const std::size_t count = std::min(text.size(), size - 1);
  std::memcpy(out, text.data(), count);
  out[count] = 0;
}

/// Runs `call`; if it throws, copies the message of the exception to `error`.
template <class Call>
int guarded(char* error, std::size_t size, const Call& call) {
  try {
    return call();
  } catch (const std::invalid_argument& thrown) {
    tell(thrown.what(), error, size);
    return bad_input;
  } catch (const std::exception& thrown) {
    tell(thrown.what(), error, size);
    return device_failed;
  }
}

/// Thrown if no verifier of the given name has a kernel.
class NoSuchKernel : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Calls use(verifier) for the verifier of this name that has a kernel. Throws: NoSuchKernel if there is none.
template <class Use>
void with_verifier(std::string_view name, const Use& use) {
  bool found = false;
  std::string known;
  verifiers::for_each_kernel_verifier([&](const auto& verifier) {
    using V = std::remove_cvref_t<decltype(verifier)>;
    if constexpr (has_kernel<V>) {
      known += (known.empty() ? "" : ", ") + std::string(V::info.name);
      if (V::info.name != name) return;
      found = true;
      use(verifier);
    }
  });
  if (!found) throw NoSuchKernel("verifier: got " + std::string(name) + ", expected one of " + known);
}

gpu::StoredBatch batch_of(const draftproof_rows& rows) {
  if (rows.format < 0 || rows.format > 2)
    throw std::invalid_argument("format: got " + std::to_string(rows.format) + ", expected 0, 1 or 2");
  gpu::StoredBatch batch;
  batch.format = static_cast<gpu::Format>(rows.format);
  batch.contents = rows.logits != 0 ? gpu::Contents::logits : gpu::Contents::probabilities;
  batch.temperatures = {.target = rows.target_temperature, .proposal = rows.proposal_temperature};
  batch.positions = rows.positions;
  batch.vocabulary = rows.vocabulary;
  batch.proposals = rows.proposals;
  batch.target = rows.target;
  batch.target_stride = rows.target_stride;
  batch.proposal = rows.proposal;
  batch.proposal_stride = rows.proposal_stride;
  batch.proposal_row_stride = rows.proposal_row_stride;
  batch.drafts = rows.drafts;
  batch.draft_stride = rows.draft_stride;
  batch.counts = rows.counts;
  batch.seed = rows.seed;
  batch.first_trial = rows.first_trial;
  batch.faults = rows.faults;
  batch.verdicts = reinterpret_cast<Verdict*>(rows.verdicts);
  return batch;
}

/// Throws std::invalid_argument, with the position, unless position i has at least `fewest` and at most 32 drafts, no
/// more drafts than proposal rows if there are several rows, and only drafts that are tokens below V.
void want_drafts(const gpu::StoredBatch& batch, int i, int fewest) {
  const std::string place = "position " + std::to_string(i) + ": ";
  const int count = batch.counts[i];
  const int most = batch.proposals > 1 ? std::min(batch.proposals, max_drafts) : max_drafts;
  if (count < fewest || count > most)
    throw std::invalid_argument(place + "got " + std::to_string(count) + " drafts, expected " +
                                std::to_string(fewest) + " .. " + std::to_string(most));
  for (int k = 0; k < count; ++k)
    if (const Token x = batch.drafts[i * batch.draft_stride + k]; x < 0 || x >= batch.vocabulary)
      throw std::invalid_argument(place + "draft " + std::to_string(k) + ": got " + std::to_string(x) +
                                  ", expected a token below " + std::to_string(batch.vocabulary));
}

/// Returns the verdict on position i, computed by the verifier's host code without precomputed tables. The kernels are
/// tested for equality with this result.
template <class V>
Verdict decided(const V& verifier, const gpu::StoredBatch& batch, int i, const FreshRows<float>& rows) {
  const int count = batch.counts[i];
  const auto plan = prepare(verifier, rows, count);
  Philox random(batch.seed, batch.first_trial + static_cast<std::uint64_t>(i), Philox::Role::verify);
  return verify(verifier, DraftedPosition(rows, batch.drafts + i * batch.draft_stride, count), plan, random);
}

template <class V>
void verify_on_host(const V& verifier, const gpu::StoredBatch& batch) {
  const auto vocabulary = static_cast<std::size_t>(batch.vocabulary);
  std::vector<std::vector<float>> floats(static_cast<std::size_t>(batch.proposals) + 1);
  LogitRows softmaxes(batch.vocabulary, batch.proposals);
  for (int i = 0; i < batch.positions; ++i) {
    want_drafts(batch, i, gpu::plan_bytes<V> > 0 ? 1 : 0);
    gpu::with_entries(batch.format, batch.target_row(i), [&]<class Entry>(const Entry* target) {
      std::vector<std::span<const Entry>> proposals;
      for (int k = 0; k < batch.proposals; ++k)
        proposals.emplace_back(static_cast<const Entry*>(batch.proposal_row(i, k)), vocabulary);
      if (batch.contents == gpu::Contents::logits) {
        const auto rows = softmaxes.of(std::span(target, vocabulary), proposals, batch.temperatures);
        batch.verdicts[i] = decided(verifier, batch, i, rows);
        return;
      }
      // Entries of 16 bits become floats without rounding, as they do on a device.
      const auto as_floats = [&](std::size_t row, const Entry* entries) {
        floats[row].resize(vocabulary);
        for (std::size_t x = 0; x < vocabulary; ++x) floats[row][x] = static_cast<float>(entries[x]);
        return std::span<const float>(floats[row]);
      };
      std::vector<std::span<const float>> own;
      for (std::size_t k = 0; k < proposals.size(); ++k) own.push_back(as_floats(k + 1, proposals[k].data()));
      batch.verdicts[i] = decided(verifier, batch, i, FreshRows<float>(as_floats(0, target), own));
    });
  }
}

}  // namespace
}  // namespace draftproof

using namespace draftproof;

int draftproof_verify_rows(const char* verifier, const draftproof_rows* rows, void* stream, char* error,
                           std::size_t error_size) {
  return guarded(error, error_size, [&] {
    const gpu::StoredBatch batch = batch_of(*rows);
    try {
      with_verifier(verifier, [&](const auto& found) {
        gpu::verify_batch(found, batch, static_cast<gpu::Stream>(stream), {.check_probabilities = rows->check != 0});
      });
    } catch (const NoSuchKernel& thrown) {
      tell(thrown.what(), error, error_size);
      return no_kernel_here;
    }
    return fine;
  });
}

int draftproof_verify_rows_on_host(const char* verifier, const draftproof_rows* rows, char* error,
                                   std::size_t error_size) {
  return guarded(error, error_size, [&] {
    const gpu::StoredBatch batch = batch_of(*rows);
    try {
      with_verifier(verifier, [&](const auto& found) { verify_on_host(found, gpu::checked_shape(batch)); });
    } catch (const NoSuchKernel& thrown) {
      tell(thrown.what(), error, error_size);
      return no_kernel_here;
    }
    return fine;
  });
}

int draftproof_kernel_names(char* names, std::size_t size) {
  return guarded(names, size, [&] {
    std::string text;
    verifiers::for_each_kernel_verifier([&](const auto& verifier) {
      using V = std::remove_cvref_t<decltype(verifier)>;
      if constexpr (has_kernel<V>) {
        text += std::string(V::info.name) + " " + std::to_string(V::info.fewest_drafts) + " " +
                std::to_string(V::info.most_drafts) + (gpu::plan_bytes<V> > 0 ? " 1" : " 0");
        for (std::size_t i = 0; i < V::info.drafts.count; ++i) text += " " + std::string(V::info.drafts.names[i]);
        text += "\n";
      }
    });
    if (text.size() >= size)
      throw std::invalid_argument("names: got " + std::to_string(size) + " bytes, expected " +
                                  std::to_string(text.size() + 1));
    tell(text, names, size);
    return fine;
  });
}

int draftproof_describe_fault(std::int64_t position, std::uint64_t word, char* text, std::size_t size) {
  return guarded(text, size, [&] {
    tell(word == gpu::no_fault ? "" : gpu::describe({position, gpu::RowFault::of_word(word)}), text, size);
    return fine;
  });
}
