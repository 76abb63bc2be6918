// Tests on fibers that some case distinguishes each mutant kernel from the host, and that no case distinguishes the
// correct kernel.
#include <cstdio>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <draftproof/found/kernel_mutants.hpp>
#include <draftproof/tests/support/gpu/host_team.hpp>
#include <draftproof/tests/support/gpu/kernel_cases.hpp>
#include <draftproof/tests/support/gpu/outcome.hpp>

namespace {

using namespace draftproof;
using namespace draftproof::kernel_mutants;

constexpr parity::TeamShape block{.partitions = 1, .warps = 3, .lanes = 4};

/// Returns the number of verdicts that differ from the host, differ between the threads of a team, or do not finish.
template <class M>
int wrong_verdicts(const KernelCase& one) {
  int wrong = 0;
  for (int i = 0; i < one.batch().positions; ++i) {
    parity::HostTeam team(block);
    std::vector<Verdict> verdicts(static_cast<std::size_t>(block.threads()));
    try {
      team.run([&](const parity::HostThread& thread) {
        verdicts[static_cast<std::size_t>(thread.index())] = decide_with<M, Verifier>(one.batch(), i, thread);
      });
    } catch (const std::logic_error&) {
      ++wrong;  // a deadlock: threads wait for threads that have ended
      continue;
    }
    bool differs = false;
    for (const Verdict& verdict : verdicts) differs |= !same(verdict, one.wanted()[static_cast<std::size_t>(i)]);
    wrong += differs;
  }
  return wrong;
}

}  // namespace

int main() {
  return draftproof::parity::outcome([] {
    const auto cases = kernel_cases(96);
    int failures = 0;
    const auto run = [&]<class M>(M) {
      const bool sound = std::is_same_v<M, SoundKernel>;
      failures += judge(M::name, sound, cases, [&](std::size_t i) { return wrong_verdicts<M>(*cases[i]); });
    };
    run(SoundKernel{});
    for_each_kernel_mutant(run);
    std::printf("kernel mutants: %d failures\n", failures);
    return failures == 0 ? 0 : 1;
  });
}
