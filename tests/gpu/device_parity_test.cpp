// Compares every kernel of positions and of drafts with the host. Without a device the exit code is 77, which CTest
// reads as skipped.
//
//   draftproof_device_parity_test                a minute or so: every mapping, many shapes of rows
//   draftproof_device_parity_test TRIALS V...    TRIALS trials of every scheme on each of its draft samplings, for
//                                                each V and K = 1, 4, 16, on rows of six shapes; prints its progress
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <draftproof/gpu/launch.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>
#include <draftproof/tests/support/gpu/parity.hpp>

namespace draftproof::found {
void device_parity_everything();
}

namespace {

using draftproof::parity::Sizes;

int compare_many(long long trials, const std::vector<int>& vocabularies) {
  constexpr int shapes = 6, most_positions = 200'000;
  int mismatches = 0;
  for (const int vocabulary : vocabularies)
    for (const int drafts : {1, 4, 16}) {
      std::uint64_t first = 0;
      for (long long left = trials; left > 0;) {
        const auto positions = static_cast<int>(
            std::clamp<long long>((trials + shapes - 1) / shapes, 1, std::min<long long>(most_positions, left)));
        mismatches += draftproof::parity::run({.vocabularies = {vocabulary},
                                               .drafts = drafts,
                                               .positions = positions,
                                               .one_pair = true,
                                               .first_trial = first});
        left -= positions;
        first += (std::uint64_t{1} << 40) + 1;
      }
    }
  return mismatches;
}

}  // namespace

int main(int argc, char** argv) {
  return draftproof::parity::outcome_on_device(draftproof::gpu::device_count, [&] {
    draftproof::found::device_parity_everything();
    int mismatches = 0;
    if (argc > 1) {
      std::vector<int> vocabularies;
      for (int i = 2; i < argc; ++i) vocabularies.push_back(std::stoi(argv[i]));
      if (vocabularies.empty()) vocabularies = {32, 4096, 32000, 128256, 262144};
      mismatches = compare_many(std::stoll(argv[1]), vocabularies);
    } else {
      mismatches = draftproof::parity::run({.vocabularies = {1, 31, 32, 1000, 4096}, .drafts = 8, .positions = 192});
      mismatches += draftproof::parity::run({.vocabularies = {32000}, .drafts = 8, .positions = 24});
      // Compares a single position, verified by as many blocks as a team has.
      for (std::uint64_t trial = 0; trial < 4; ++trial)
        mismatches += draftproof::parity::run(
            {.vocabularies = {33, 3000, 9000}, .drafts = 8, .positions = 1, .first_trial = trial << 40});
    }
    return mismatches == 0 ? 0 : 1;
  });
}
